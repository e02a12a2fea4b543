#include "tactics/alternatives.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/microseconds.h"
#include "ops/plugin.h"
#include "tactics/choices.h"
#include "tactics/timer.h"

namespace kiln {
namespace {

constexpr double kNear = 1.5;               // a symbol's values at neighbouring tunings have at least this ratio
constexpr double kFar = 6;                  // beyond this ratio there is one between them
constexpr size_t kMostTunings = 16;         // if there are more combinations, only one symbol differs from the optimum
constexpr size_t kMostCombinations = 1024;  // to look at
constexpr size_t kMostVariants = 4;         // of a tile at a tuning, beside its own
constexpr double kLeastGain = 0.15;         // of the time of the tile's own: each costs memory, and times are noisy

/// Moves the optimum of a table's symbols from one tuning to the next.
class Tunings {
 public:
  explicit Tunings(sym::Table& table) : table_(table) {
    for (const sym::Expr& symbol : table.symbols()) bounds_.push_back(table.bounds(symbol));
  }
  /// Values by symbols' ids, the optimum's first: all combinations, or those where one symbol moves.
  std::vector<Extents> all(bool combined) const {
    std::vector<Extents> result{optimum()};
    for (size_t s = 0; s < bounds_.size(); ++s) {
      const std::vector<int64_t> values = levels(bounds_[s]);
      const size_t before = combined ? result.size() : 1;
      if (before * values.size() > kMostCombinations) return all(false);
      for (size_t r = 0; r < before; ++r)
        for (const int64_t value : values) {
          if (value == bounds_[s].opt) continue;
          Extents next = result[r];
          next[s] = value;
          result.push_back(std::move(next));
        }
    }
    return result;
  }
  void tune_for(const Extents& values) {
    for (size_t s = 0; s < values.size(); ++s) {
      sym::Bounds bounds = bounds_[s];
      bounds.opt = values[s];
      CHECK(table_.set_bounds(table_.symbols()[s], bounds));  // they were these before
    }
  }

 private:
  Extents optimum() const {
    Extents result;
    for (const sym::Bounds& b : bounds_) result.push_back(b.opt);
    return result;
  }
  /// A symbol's optimum, minimum and maximum, and what is between them where they are far apart.
  static std::vector<int64_t> levels(const sym::Bounds& b) {
    std::vector<int64_t> result{b.opt};
    if (b.min == b.max || b.max >= sym::kAnyExtent.max || b.opt < 1) return result;
    for (const int64_t end : {std::max<int64_t>(b.min, 1), b.max}) {
      const double from = static_cast<double>(b.opt), to = static_cast<double>(end);
      const double ratio = std::max(from / to, to / from);
      if (ratio >= kFar) result.push_back(std::llround(std::sqrt(from * to)));
      if (ratio >= kNear) result.push_back(end);
    }
    return result;
  }

  sym::Table& table_;
  std::vector<sym::Bounds> bounds_;
};

/// The best choice at one tuning for tiles that are the same to the timer.
struct Answer {
  std::optional<Variant> variant;  ///< nothing: the tile's own
  double time_us = 0, own_us = 0;
};

class Asker {
 public:
  Asker(const TacticContext& cx, const Backend& backend, Timing& timing, Cover& cover, Log& log)
      : cx_(cx), backend_(backend), timing_(timing), cover_(cover), log_(log) {}

  Status run() {
    Tunings tunings(*cx_.graph.shared_table());
    std::vector<Extents> all = agreeing(tunings.all(true));
    if (all.size() > kMostTunings) all = agreeing(tunings.all(false));
    for (const Tile& tile : cover_.tiles) keys_.push_back(is_asked(tile) ? key_of(tile) : Hash128{});
    cover_.tunings = {all[0]};
    Status status;
    for (size_t t = 1; t < all.size() && status; ++t) {
      tunings.tune_for(all[t]);
      cover_.tunings.push_back(all[t]);
      status = ask();
    }
    tunings.tune_for(all[0]);
    TRY(status);
    if (std::ranges::all_of(cover_.tiles, [](const Tile& tile) { return tile.alternatives.empty(); }))
      cover_.tunings.clear();
    return {};
  }

 private:
  /// The tunings that no assumption forbids: assumptions may tie symbols together.
  std::vector<Extents> agreeing(std::vector<Extents> tunings) const {
    std::vector<sym::Guard> guards;
    for (const sym::Assumption& assumption : cx_.graph.assumptions()) guards.push_back(sym::Guard::compile(assumption));
    const auto breaks = [&](const Extents& values) {
      return std::ranges::any_of(guards, [&](const sym::Guard& guard) { return !guard.check(values); });
    };
    tunings.erase(std::remove_if(tunings.begin() + 1, tunings.end(), breaks), tunings.end());
    return tunings;
  }
  /// A plugin is told the profile's optimum and no other.
  bool is_asked(const Tile& tile) const {
    return tile.tactic && !tile.draft.is_view() && !cx_.graph.node(tile.region.nodes.back()).op.as<ops::Plugin>();
  }
  Hash128 key_of(const Tile& tile) const {
    return timing_key(cx_, tile.region, {tile.tactic, tile.variant, tile.draft});
  }
  std::vector<Candidate> candidates_of(const Tile& tile) const;
  void compile(const Tile& tile, std::vector<Candidate>& candidates) const;
  Status ask();
  Result<Answer> ask_for(const Tile& tile, std::vector<Candidate>& candidates);
  void take(Tile& tile, const Answer& answer);

  const TacticContext& cx_;
  const Backend& backend_;
  Timing& timing_;
  Cover& cover_;
  Log& log_;
  std::vector<Hash128> keys_;  // by tile, at the optimum
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

/// Compiles all candidates but the tile's own.
void Asker::compile(const Tile& tile, std::vector<Candidate>& candidates) const {
  for (size_t c = 1; c < candidates.size(); ++c) {
    Result<StepDraft> draft = tile.tactic->compile(cx_, tile.region, candidates[c].variant);
    if (!draft)
      candidates[c].failure = draft.error().message;
    else if (draft->executor != tile.draft.executor || draft->in_place_input != tile.draft.in_place_input)
      candidates[c].failure = "it would share memory in another way than the step does";
    else
      candidates[c].draft = std::move(*draft);
  }
}

/// Times the candidates at the shapes for which the graph's symbols are tuned now, once for all tiles that the timer
/// cannot tell apart.
Status Asker::ask() {
  std::map<Hash128, std::vector<Candidate>> wanted;
  std::map<Hash128, Tile*> first;
  std::vector<Hash128> keys(cover_.tiles.size());
  for (size_t t = 0; t < cover_.tiles.size(); ++t) {
    Tile& tile = cover_.tiles[t];
    if (!is_asked(tile) || (keys[t] = key_of(tile)) == keys_[t] || !first.emplace(keys[t], &tile).second) continue;
    wanted[keys[t]] = candidates_of(tile);
  }
  backend_.compile_ahead([&] {
    for (const auto& [key, tile] : first) {
      std::vector<Candidate> copy = wanted[key];
      compile(*tile, copy);
    }
  });
  std::map<Hash128, Answer> answers;
  for (size_t t = 0; t < cover_.tiles.size(); ++t) {
    if (!first.contains(keys[t])) continue;
    if (!answers.contains(keys[t])) answers[keys[t]] = TRY(ask_for(*first[keys[t]], wanted[keys[t]]));
    take(cover_.tiles[t], answers[keys[t]]);
  }
  return {};
}

Result<Answer> Asker::ask_for(const Tile& tile, std::vector<Candidate>& candidates) {
  if (candidates.size() < 2) return Answer{};
  compile(tile, candidates);
  const Trial trial{tile.region, candidates};
  TRY(timing_.time(cx_, {&trial, 1}));
  const Candidate &own = candidates[0], *best = &own;
  for (const Candidate& candidate : candidates)
    if (candidate.failure.empty() && (!best->failure.empty() || candidate.time_us < best->time_us)) best = &candidate;
  if (best == &own || (own.failure.empty() && best->time_us > (1 - kLeastGain) * own.time_us)) return Answer{};
  return Answer{best->variant, best->time_us, own.time_us};
}

/// Takes the answer for a tile. It is compiled for each tile, because tiles with one answer have different constants.
void Asker::take(Tile& tile, const Answer& answer) {
  if (!answer.variant) return;
  const Variant& variant = *answer.variant;
  Result<StepDraft> draft = tile.tactic->compile(cx_, tile.region, variant);
  if (!draft) return;
  const int tuning = static_cast<int>(cover_.tunings.size()) - 1;
  log_.verbose("'", cx_.graph.node(tile.region.nodes.back()).name, "', tuning ", tuning, ": ", tile.tactic->name(),
               " (", variant.name, ") takes ", us_text(answer.time_us), ", ", tile.variant.name, " ",
               us_text(answer.own_us));
  for (AlternativeTile& other : tile.alternatives)
    if (other.variant.name == variant.name && other.draft.step == draft->step && other.draft.tuning == draft->tuning &&
        other.draft.binary == draft->binary)
      return other.tunings.push_back(tuning);
  tile.alternatives.push_back({{tuning}, variant, std::move(*draft), answer.time_us, answer.own_us});
}

}  // namespace

Status add_alternatives(const TacticContext& cx, const Backend& backend, Timing& timing, Cover& cover, Log& log) {
  if (!effort_of(cx.optimization_level).alternatives) return {};
  return Asker(cx, backend, timing, cover, log).run();
}

}  // namespace kiln
