#include "builder/streams.h"

#include <algorithm>
#include <numeric>

namespace kiln {
namespace {

constexpr double kWaitUs = 1.2;      // a wait for another stream, in a graph
constexpr double kUnknownUs = 2;     // a step that was not timed: a small kernel
constexpr double kLeastGain = 0.03;  // of the whole

double time_of(const ScheduledStep& step) { return step.time_us > 0 ? step.time_us : kUnknownUs; }

}  // namespace

std::vector<int> assign_streams(std::span<const ScheduledStep> steps, int most_auxiliary) {
  std::vector<int> streams(steps.size(), 0);
  if (most_auxiliary <= 0) return streams;
  std::vector<double> free_at(static_cast<size_t>(most_auxiliary) + 1, 0), done_at(steps.size(), 0);
  for (size_t j = 0; j < steps.size(); ++j) {
    const auto start_on = [&](int stream) {
      double start = free_at[static_cast<size_t>(stream)];
      for (const int i : steps[j].needs) {
        const auto need = static_cast<size_t>(i);
        start = std::max(start, done_at[need] + (streams[need] == stream ? 0 : kWaitUs));
      }
      return start;
    };
    // Where two are equal, behind what it reads: a chain stays on one stream.
    int best = steps[j].needs.empty() ? 0 : streams[static_cast<size_t>(steps[j].needs.back())];
    for (int s = 0; s <= most_auxiliary; ++s)
      if (start_on(s) < start_on(best)) best = s;
    const double end = start_on(best) + time_of(steps[j]);
    streams[j] = best;
    done_at[j] = free_at[static_cast<size_t>(best)] = end;
  }
  const double serial =
      std::accumulate(steps.begin(), steps.end(), 0.0, [](double sum, const auto& s) { return sum + time_of(s); });
  const double parallel = std::ranges::max(free_at) + kWaitUs;
  if (parallel > (1 - kLeastGain) * serial) std::ranges::fill(streams, 0);
  return streams;
}

std::vector<Span> concurrent_spans(std::span<const ScheduledStep> steps, std::span<const int> streams) {
  const size_t count = steps.size();
  std::vector<Span> spans(count);
  for (size_t j = 0; j < count; ++j) spans[j] = {static_cast<int>(j), static_cast<int>(j)};
  if (std::ranges::all_of(streams, [](int s) { return s == 0; })) return spans;
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count, false));  // [j][i]: i is done when j begins
  for (size_t j = 0; j < count; ++j) {
    const auto follow = [&](size_t i) {
      for (size_t k = 0; k < i; ++k)
        if (before[i][k]) before[j][k] = true;
      before[j][i] = true;
    };
    for (const int i : steps[j].needs) follow(static_cast<size_t>(i));
    for (size_t i = j; i-- > 0;)
      if (streams[i] == streams[j]) {
        follow(i);
        break;
      }
    for (size_t i = 0; i < j; ++i)
      if (!before[j][i]) {
        spans[j].first = std::min(spans[j].first, static_cast<int>(i));
        spans[i].last = std::max(spans[i].last, static_cast<int>(j));
      }
  }
  return spans;
}

}  // namespace kiln
