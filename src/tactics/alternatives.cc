#include "tactics/alternatives.h"

#include <algorithm>
#include <cmath>

#include "tactics/choices.h"

namespace kiln {
namespace {

constexpr double kStep = 4;                    // the product of all symbols at one shape, divided by that at the next
constexpr int kMostBelow = 5, kMostAbove = 3;  // shapes
constexpr size_t kMostVariants = 4;            // of a tile at a shape, beside its own
constexpr double kLeastGain = 0.15;            // of the time of the tile's own: each costs memory, and times are noisy

/// Values of a table's symbols to tune for, by their ids.
using Point = std::vector<int64_t>;

class Points {
 public:
  explicit Points(sym::Table& table) : table_(table) {
    for (const sym::Expr& symbol : table.symbols()) bounds_.push_back(table.bounds(symbol));
  }
  /// From the smallest to the largest, without the optimum.
  std::vector<Point> all() const {
    std::vector<Point> result;
    const int below = count(&sym::Bounds::min, kMostBelow), above = count(&sym::Bounds::max, kMostAbove);
    for (int i = below; i > 0; --i) result.push_back(towards(&sym::Bounds::min, static_cast<double>(i) / below));
    for (int i = 1; i <= above; ++i) result.push_back(towards(&sym::Bounds::max, static_cast<double>(i) / above));
    return result;
  }
  Point optimum() const { return towards(&sym::Bounds::min, 0); }
  void tune_for(const Point& point) {
    for (size_t id = 0; id < point.size(); ++id) {
      sym::Bounds bounds = bounds_[id];
      bounds.opt = point[id];
      CHECK(table_.set_bounds(table_.symbols()[id], bounds));  // they were these before
    }
  }

 private:
  bool varies(const sym::Bounds& b) const { return b.min < b.max && b.max < sym::kAnyExtent.max; }
  int count(int64_t sym::Bounds::*end, int most) const {
    double ratio = 0;
    for (const sym::Bounds& b : bounds_)
      if (varies(b))
        ratio += std::abs(std::log(static_cast<double>(std::max<int64_t>(b.*end, 1))) -
                          std::log(static_cast<double>(std::max<int64_t>(b.opt, 1))));
    return std::min(static_cast<int>(std::lround(ratio / std::log(kStep))), most);
  }
  /// On the way from the optimum to an end, by the logarithm.
  Point towards(int64_t sym::Bounds::*end, double way) const {
    Point result;
    for (const sym::Bounds& b : bounds_) {
      const auto from = static_cast<double>(std::max<int64_t>(b.opt, 1)),
                 to = static_cast<double>(std::max<int64_t>(b.*end, 1));
      const bool moves = varies(b) && way > 0;
      result.push_back(moves ? std::clamp(std::llround(from * std::pow(to / from, way)), 0LL + b.min, 0LL + b.max)
                             : b.opt);
    }
    return result;
  }

  sym::Table& table_;
  std::vector<sym::Bounds> bounds_;
};

/// What is best for a tile at one shape.
struct Sample {
  int64_t elements = 0;  ///< of the first output
  Candidate best;        ///< without a tactic: the tile's own
  double own_us = 0;
};

bool same_kernel(const Candidate& a, const Candidate& b) {
  if (!a.tactic || !b.tactic) return a.tactic == b.tactic;
  return a.variant.name == b.variant.name && a.draft.payload == b.draft.payload && a.draft.binary == b.draft.binary;
}

class Asker {
 public:
  Asker(const TacticContext& cx, const Backend& backend, Timing& timing, Cover& cover, Log& log)
      : cx_(cx), backend_(backend), timing_(timing), cover_(cover), log_(log), samples_(cover.tiles.size()) {}

  Status run() {
    Points points(*cx_.graph.shared_table());
    const std::vector<Point> all = points.all();
    if (all.empty()) return {};
    const Point optimum = points.optimum();
    note_optimum();
    Status status;
    for (const Point& point : all) {
      points.tune_for(point);
      if (agree(point)) status = ask();
      if (!status) break;
    }
    points.tune_for(optimum);
    TRY(status);
    for (size_t t = 0; t < samples_.size(); ++t) choose(cover_.tiles[t], samples_[t]);
    return {};
  }

 private:
  /// Whether extents may be so: an assumption may tie symbols together.
  bool agree(const Point& point) const {
    return std::ranges::all_of(cx_.graph.assumptions(), [&](const sym::Assumption& assumption) {
      return sym::Guard::compile(assumption).check(point).has_value();
    });
  }
  int64_t elements_of(const Tile& tile) const { return volume(cx_.graph.type(tile.region.outputs[0]).opt_extents()); }
  bool is_asked(const Tile& tile) const {
    return tile.tactic && tile.draft.kernel != "view" && !tile.region.outputs.empty();
  }
  void note_optimum() {
    for (size_t t = 0; t < samples_.size(); ++t)
      if (is_asked(cover_.tiles[t])) samples_[t].push_back({elements_of(cover_.tiles[t]), {}, 0});
  }
  std::vector<Candidate> candidates_of(const Tile& tile) const;
  Status ask();
  void choose(Tile& tile, std::vector<Sample>& samples) const;

  const TacticContext& cx_;
  const Backend& backend_;
  Timing& timing_;
  Cover& cover_;
  Log& log_;
  std::vector<std::vector<Sample>> samples_;  // by tile; the optimum's first
};

/// The tile's own first.
std::vector<Candidate> Asker::candidates_of(const Tile& tile) const {
  std::vector<Candidate> result{{tile.tactic, tile.variant, tile.draft}};
  for (Variant& variant : tile.tactic->variants(cx_, tile.region)) {
    if (result.size() > kMostVariants) break;
    if (variant.name == tile.variant.name || variant.inputs != tile.variant.inputs ||
        variant.outputs != tile.variant.outputs)
      continue;
    result.push_back({tile.tactic, std::move(variant), {}});
  }
  return result;
}

/// At the shapes that the graph's symbols are tuned for now.
Status Asker::ask() {
  std::vector<std::vector<Candidate>> candidates(cover_.tiles.size());
  for (size_t t = 0; t < cover_.tiles.size(); ++t)
    if (!samples_[t].empty() && elements_of(cover_.tiles[t]) != samples_[t][0].elements)
      candidates[t] = candidates_of(cover_.tiles[t]);
  const auto compile = [&](bool keep) {
    for (size_t t = 0; t < candidates.size(); ++t)
      for (Candidate& candidate : candidates[t]) {
        if (&candidate == &candidates[t][0]) continue;
        Result<StepDraft> draft = candidate.tactic->compile(cx_, cover_.tiles[t].region, candidate.variant);
        if (!keep) continue;
        if (draft && draft->executor == cover_.tiles[t].draft.executor &&
            draft->in_place_input == cover_.tiles[t].draft.in_place_input)
          candidate.draft = std::move(*draft);
        else
          candidate.failure = draft ? "memory is shared otherwise" : draft.error().message;
      }
  };
  backend_.compile_ahead([&] { compile(false); });
  compile(true);
  for (size_t t = 0; t < candidates.size(); ++t) {
    if (candidates[t].size() < 2) continue;
    const Tile& tile = cover_.tiles[t];
    const Trial trial{tile.region, candidates[t]};
    TRY(timing_.time(cx_, {&trial, 1}));
    const Candidate& own = candidates[t][0];
    Sample sample{elements_of(tile), {}, own.time_us};
    const Candidate* best = &own;
    for (const Candidate& candidate : candidates[t])
      if (candidate.failure.empty() && (candidate.time_us < best->time_us || !best->failure.empty())) best = &candidate;
    if (best != &own && (!own.failure.empty() || best->time_us < (1 - kLeastGain) * own.time_us)) sample.best = *best;
    samples_[t].push_back(std::move(sample));
  }
  return {};
}

/// A sample stands for what is nearer to it than to its neighbours, by the logarithm.
void Asker::choose(Tile& tile, std::vector<Sample>& samples) const {
  std::ranges::stable_sort(samples, {}, &Sample::elements);
  const auto between = [](const Sample& a, const Sample& b) {
    return static_cast<int64_t>(std::sqrt(static_cast<double>(a.elements) * static_cast<double>(b.elements)));
  };
  for (size_t s = 0; s < samples.size();) {
    size_t end = s + 1;
    while (end < samples.size() && same_kernel(samples[s].best, samples[end].best)) ++end;
    if (samples[s].best.tactic) {
      AlternativeTile other{s == 0 ? 0 : between(samples[s - 1], samples[s]) + 1,
                            end == samples.size() ? INT64_MAX : between(samples[end - 1], samples[end]),
                            samples[s].best.variant,
                            samples[s].best.draft,
                            samples[s].best.time_us,
                            samples[s].own_us};
      log_.verbose("'", cx_.graph.node(tile.region.nodes.back()).name, "': ", tile.tactic->name(), " (",
                   other.variant.name, ") from ", other.least_elements, " to ", other.most_elements,
                   " elements: ", other.time_us, " us at ", samples[s].elements, ", where ", tile.variant.name,
                   " takes ", other.replaced_us, " us");
      tile.alternatives.push_back(std::move(other));
    }
    s = end;
  }
}

}  // namespace

Status add_alternatives(const TacticContext& cx, const Backend& backend, Timing& timing, Cover& cover, Log& log) {
  if (!effort_of(cx.optimization_level).alternatives) return {};
  return Asker(cx, backend, timing, cover, log).run();
}

}  // namespace kiln
