#include "layer_profile.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "json.h"
#include "statistics.h"
#include "text.h"

namespace kiln::cli {
namespace {

std::string row(double total_ms, double mean_ms, double median_ms, double percent, const std::string& name) {
  char figures[96];
  std::snprintf(figures, sizeof figures, "%11.2f%13.4f%13.4f%10.1f   ", total_ms, mean_ms, median_ms, percent);
  return figures + name;
}

}  // namespace

double LayerProfile::Layer::total_ms() const { return std::accumulate(times_ms.begin(), times_ms.end(), 0.0); }

void LayerProfile::reportLayerTime(char const* name, float ms) noexcept {
  if (layers_.empty() || layers_.front().name == name) {
    next_ = 0;
    ++num_queries_;
  }
  if (next_ == layers_.size() || layers_[next_].name != name) {
    const auto known = std::ranges::find(layers_, name, &Layer::name);
    next_ = static_cast<size_t>(known - layers_.begin());
    if (known == layers_.end()) layers_.push_back({name, {}});
  }
  layers_[next_++].times_ms.push_back(ms);
}

void LayerProfile::clear() {
  layers_.clear();
  next_ = 0;
  num_queries_ = 0;
}

double LayerProfile::total_ms() const {
  double total = 0;
  for (const Layer& layer : layers_) total += layer.total_ms();
  return total;
}

double LayerProfile::median_query_ms() const {
  std::vector<double> queries(static_cast<size_t>(num_queries_), 0.0);
  for (const Layer& layer : layers_)
    for (size_t i = 0; i < std::min(queries.size(), layer.times_ms.size()); ++i) queries[i] += layer.times_ms[i];
  return median(std::move(queries));
}

std::vector<std::string> LayerProfile::lines() const {
  std::vector<std::string> lines{"", str("=== Profile (", num_queries_, " iterations ) ==="),
                                 "   Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer"};
  const double all = total_ms();
  for (const Layer& layer : layers_)
    if (const double total = layer.total_ms(); total > 0)
      lines.push_back(row(total, mean(layer.times_ms), median(layer.times_ms), 100 * total / all, layer.name));
  lines.push_back(row(all, num_queries_ ? all / num_queries_ : 0, median_query_ms(), 100, "Total"));
  lines.emplace_back();
  return lines;
}

std::string LayerProfile::json() const {
  std::string text = str("[\n  { \"count\" : ", num_queries_, " }\n");
  const double all = total_ms();
  for (const Layer& layer : layers_) {
    const double total = layer.total_ms();
    text += str(", { \"name\" : ", json_string(layer.name), ", \"timeMs\" : ", json_number(total),
                ", \"averageMs\" : ", json_number(mean(layer.times_ms)),
                ", \"medianMs\" : ", json_number(median(layer.times_ms)),
                ", \"percentage\" : ", json_number(all > 0 ? 100 * total / all : 0), " }\n");
  }
  return text + "]\n";
}

}  // namespace kiln::cli
