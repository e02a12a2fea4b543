#include "tactics/choices.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <span>

#include "base/microseconds.h"
#include "ops/plugin.h"
#include "tactics/control.h"

namespace kiln {
namespace {

constexpr double kReferenceUs = 1e6;  // more than any tactic would take: the reference is the last resort
constexpr size_t kMostChoices = 256;  // of one root, where sets of values are cut
constexpr size_t kMostCutNodes = 24;  // a longer region is cut by kinds only
constexpr size_t kMostRivals = 12;    // loaded at the same time
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// The nodes behind the first read data from nodes of the region alone.
Status check_behind_first(const ir::Graph& graph, const Region& region, const std::set<ir::NodeId>& inside) {
  for (const ir::NodeId id : std::span(region.nodes).subspan(1))
    for (const ir::ValueId input : graph.node(id).inputs)
      TRY(require(input == ir::ValueId::kNone || graph.constant(input) || inside.contains(graph.value(input).producer),
                  "others see what the region's first node makes, and a node behind that reads data from outside"));
  return {};
}

/// Only outputs of the root, and of the first node where the region writes them, are seen from outside: a step runs
/// where that node stands in the order.
Status check_region(const ir::Graph& graph, const Region& region, ir::NodeId root) {
  const std::set<ir::NodeId> inside(region.nodes.begin(), region.nodes.end());
  TRY(require(!region.nodes.empty() && region.nodes.back() == root, "the root is not the last node of the region"));
  const ir::NodeId first = place_of(graph, region);
  if (first != root) TRY(check_behind_first(graph, region, inside));
  for (const ir::ValueId output : region.outputs)
    TRY(require(graph.value(output).producer == root || graph.value(output).producer == first,
                "an output of the region is neither its root's nor its first node's"));
  for (const ir::NodeId id : region.nodes) {
    if (id == root) continue;
    for (const ir::ValueId output : graph.node(id).outputs) {
      TRY(require(!graph.is_output(output), "an output of the network is inside the region"));
      if (std::ranges::find(region.outputs, output) != region.outputs.end()) continue;
      for (const ir::NodeId user : graph.value(output).users)
        TRY(require(inside.contains(user), "a value inside the region is read outside it"));
    }
  }
  return {};
}

}  // namespace

ir::NodeId place_of(const ir::Graph& graph, const Region& region) {
  const ir::NodeId first = region.nodes.front();
  const bool is_seen =
      std::ranges::any_of(region.outputs, [&](ir::ValueId output) { return graph.value(output).producer == first; });
  return is_seen ? first : region.nodes.back();
}

Effort effort_of(int optimization_level) {
  using enum Effort::Cuts;
  switch (optimization_level) {
    case 0: return {false, false, kNone, 1000, kNoLimit, 1, 0, 16, false};
    case 1: return {false, true, kNone, 4, 2, 0.7, 0, 16, false};
    case 2: return {true, true, kNone, 8, 3, 0.7, 0.08, 32, false};
    case 3: return {true, true, kKinds, 16, 4, 0.5, 0.08, 64};
    case 4: return {true, true, kValues, 64, 8, 0.25, 0.08, 128};
    default: return {true, true, kSets, 1000, kNoLimit, 0, 0.02, 512};
  }
}

/// Matches tactics at roots, beginning with the outputs' and going on with whatever the regions found there read.
class ChoiceFinder {
 public:
  ChoiceFinder(const TacticContext& cx, const Backend& backend, const Effort& effort)
      : cx_(cx), backend_(backend), effort_(effort) {}

  Result<Choices> run() {
    for (const ir::Output& output : cx_.graph.outputs()) visit_producer(output.value);
    while (!roots_.empty()) {
      const ir::NodeId root = roots_.back();
      roots_.pop_back();
      TRY(match_root(root));
      for (const size_t i : found_.by_root_[root])
        for (const ir::ValueId input : found_[i].region.inputs) visit_producer(input);
    }
    mark_contested();
    return std::move(found_);
  }

 private:
  using Cut = std::vector<ir::ValueId>;

  void visit(ir::NodeId id) {
    if (seen_.insert(id).second) roots_.push_back(id);
  }
  void visit_producer(ir::ValueId value) {
    if (value == ir::ValueId::kNone || cx_.graph.constant(value)) return;
    if (const ir::NodeId producer = cx_.graph.value(value).producer; producer != ir::NodeId::kNone) visit(producer);
  }

  Status match_root(ir::NodeId root) {
    if (!cx_.graph.node(root).bodies.empty()) return found_.add_only(cx_, control_tactic(), root, 0);
    if (cx_.graph.node(root).op.as<ops::Plugin>())  // nothing else computes it
      return found_.add_only(cx_, *backend_.tactics(cx_.graph.node(root).op.info())[0], root, 0);
    match_tactics(cx_, root, true);
    if (found_.by_root_[root].empty()) return found_.add_fallback(cx_, backend_, root);
    TRY(match_cuts(root));
    return effort_.offers_reference ? offer_reference(root) : Status();
  }

  Status offer_reference(ir::NodeId root) {
    const auto is_alone = [&](size_t i) { return found_[i].region.nodes.size() == 1; };
    const bool wanted = std::ranges::any_of(found_.by_root_[root], is_alone);
    return wanted ? found_.add_fallback(cx_, backend_, root) : Status();
  }

  Status match_cuts(ir::NodeId root) {
    if (effort_.cuts == Effort::Cuts::kNone) return {};
    // A cut appends the choices that it finds, so that the loop cuts these too.
    std::vector<Cut> cuts(found_.by_root_[root].size());
    std::set<Cut> tried;
    for (size_t k = 0; k < cuts.size() && cuts.size() < kMostChoices; ++k)
      for (Cut& cut : cuts_of(root, found_[found_.by_root_[root][k]].region, cuts[k])) {
        if (!tried.insert(cut).second) continue;
        match_cut(root, cut);
        cuts.resize(found_.by_root_[root].size(), cut);
      }
    return {};
  }

  /// Cuts that have one value more than `base`: one cut for each value inside the region that is worth cutting at.
  std::vector<Cut> cuts_of(ir::NodeId root, const Region& region, const Cut& base) const {
    std::vector<Cut> result;
    if (!base.empty() && effort_.cuts != Effort::Cuts::kSets) return result;
    const bool any = effort_.cuts != Effort::Cuts::kKinds && region.nodes.size() <= kMostCutNodes;
    for (const ir::NodeId id : region.nodes) {
      const ir::Node& node = cx_.graph.node(id);
      const bool is_light = node.op.has(Trait::kPointwise) || node.op.has(Trait::kMovement);
      if (id == root || cx_.graph.constant(node.outputs[0]) || (!any && is_light)) continue;
      Cut cut = base;
      cut.push_back(node.outputs[0]);
      std::ranges::sort(cut);
      result.push_back(std::move(cut));
    }
    return result;
  }

  /// Matches tactics with the cut's values marked as outputs. No region has a network output inside, so regions end
  /// there.
  void match_cut(ir::NodeId root, const Cut& cut) {
    if (!cut_graph_) cut_graph_.emplace(cx_.graph.clone());
    for (const ir::ValueId value : cut) cut_graph_->mark_output(value, {});
    match_tactics(cx_.on(*cut_graph_), root, false);
    for (const ir::ValueId value : cut) cut_graph_->unmark_output(value);
  }

  void match_tactics(const TacticContext& cx, ir::NodeId root, bool notes_refusals) {
    std::vector<size_t>& mine = found_.by_root_[root];
    for (const Tactic* tactic : backend_.tactics(cx.graph.node(root).op.info())) {
      Match match = tactic->match(cx, root);
      if (match)
        if (Status sound = check_region(cx.graph, *match, root); !sound) match = reject(sound.error().message);
      if (!match) {
        if (notes_refusals) found_.refusals_[root].push_back(str(tactic->name(), ": refused: ", match.error().reason));
        continue;
      }
      const auto is_known = [&](size_t i) {
        return found_[i].tactic == tactic && found_[i].region.nodes == match->nodes;
      };
      if (std::ranges::any_of(mine, is_known)) continue;
      if (notes_refusals) found_.take_note(*tactic, *match, root);
      Choice choice{.tactic = tactic, .region = std::move(*match)};
      const size_t most = room_for(mine, choice.region);
      if (most == 0) {
        if (notes_refusals)
          found_.refusals_[root].push_back(
              str(tactic->name(), ": left out: behind ", effort_.most_of_nodes, " likelier variants of other tactics"));
        continue;
      }
      if (!add_variants(choice, most)) {
        if (notes_refusals) found_.refusals_[root].push_back(str(tactic->name(), ": refused: it offers no variant"));
        continue;
      }
      mine.push_back(found_.size());
      found_.choices_.push_back(std::move(choice));
      if (!effort_.every_tactic) return;
    }
  }

  /// How many more candidates may be tried for the region's nodes.
  size_t room_for(const std::vector<size_t>& choices, const Region& region) const {
    if (effort_.most_of_nodes == 0) return effort_.most_variants;
    size_t taken = 0;
    for (const size_t i : choices)
      if (found_[i].region.nodes == region.nodes) taken += found_[i].candidates.size();
    return std::min(effort_.most_variants, effort_.most_of_nodes - std::min(effort_.most_of_nodes, taken));
  }

  /// Whether there are any.
  bool add_variants(Choice& choice, size_t most) const {
    std::vector<Variant> variants = choice.tactic->variants(cx_, choice.region);
    double least_us = kNoLimit;
    for (const Variant& variant : variants)
      if (variant.estimate_us > 0) least_us = std::min(least_us, variant.estimate_us);
    for (Variant& variant : variants) {
      if (choice.candidates.size() >= most)
        choice.notes.push_back(str(variant.name, ": left out: behind ", most, " likelier ones"));
      else if (variant.estimate_us > effort_.most_estimate * least_us)
        choice.notes.push_back(str(variant.name, ": left out: estimated at ", us_text(variant.estimate_us),
                                   ", the best at ", us_text(least_us)));
      else
        choice.candidates.push_back({choice.tactic, std::move(variant), {}, 0, {}});
    }
    for (Candidate& candidate : choice.candidates) candidate.time_us = effort_.trust * candidate.variant.estimate_us;
    return !choice.candidates.empty();
  }

  void mark_contested() {
    for (size_t i = 0; i < found_.size(); ++i)
      for (const ir::NodeId id : found_[i].region.nodes) found_.by_node_[id].push_back(i);
    for (Choice& choice : found_.choices_) {
      const auto shared = [&](ir::NodeId id) { return found_.by_node_[id].size() > 1; };
      const bool alone = choice.candidates.size() == 1 && std::ranges::none_of(choice.region.nodes, shared);
      choice.contested = !alone && choice.penalty_us == 0;
    }
  }

  const TacticContext& cx_;
  const Backend& backend_;
  const Effort& effort_;
  Choices found_;
  std::set<ir::NodeId> seen_;
  std::vector<ir::NodeId> roots_;
  std::optional<ir::Graph> cut_graph_;
};

Result<Choices> Choices::find(const TacticContext& cx, const Backend& backend, const Effort& effort) {
  return ChoiceFinder(cx, backend, effort).run();
}

const std::vector<size_t>& Choices::rooted_at(ir::NodeId root) const {
  static const std::vector<size_t> none;
  const auto found = by_root_.find(root);
  return found == by_root_.end() ? none : found->second;
}

std::vector<size_t> Choices::of_same_nodes(size_t choice) const {
  const std::vector<ir::NodeId>& nodes = choices_[choice].region.nodes;
  std::vector<size_t> result;
  for (const size_t i : rooted_at(nodes.back()))
    if (choices_[i].region.nodes == nodes) result.push_back(i);
  return result;
}

const std::vector<std::string>& Choices::refusals(ir::NodeId root) const {
  static const std::vector<std::string> none;
  const auto found = refusals_.find(root);
  return found == refusals_.end() ? none : found->second;
}

std::vector<size_t> Choices::rivals(size_t choice) const {
  std::set<ir::NodeId> scope;
  std::set<size_t> sharing;
  for (const ir::NodeId id : choices_[choice].region.nodes)
    for (const size_t i : by_node_.at(id))
      if (sharing.insert(i).second) scope.insert(choices_[i].region.nodes.begin(), choices_[i].region.nodes.end());
  std::set<size_t> within;
  for (const ir::NodeId id : scope) within.insert(by_node_.at(id).begin(), by_node_.at(id).end());
  double estimate_us = kNoLimit;
  for (const Candidate& candidate : choices_[choice].candidates)
    if (candidate.variant.estimate_us > 0) estimate_us = std::min(estimate_us, candidate.variant.estimate_us);
  const auto fits = [&](size_t i) {
    const Choice& other = choices_[i];
    return i != choice && !other.prepared && other.penalty_us == 0 &&
           std::ranges::all_of(other.region.nodes, [&](ir::NodeId id) { return scope.contains(id); }) &&
           std::ranges::any_of(other.candidates, [&](const Candidate& c) { return c.time_us < estimate_us; });
  };
  std::vector<size_t> result;
  for (const size_t i : within)
    if (result.size() < kMostRivals && fits(i)) result.push_back(i);
  return result;
}

Status Choices::add_fallback(const TacticContext& cx, const Backend& backend, ir::NodeId root) {
  return add_only(cx, backend.fallback(), root, kReferenceUs);
}

/// Notes what a tactic says of a region that it takes.
void Choices::take_note(const Tactic& tactic, const Region& region, ir::NodeId root) {
  if (const Datum* note = region.data.find("note"))
    refusals_[root].push_back(str(tactic.name(), ": ", std::get<std::string>(note->variant())));
}

Status Choices::add_only(const TacticContext& cx, const Tactic& tactic, ir::NodeId root, double penalty_us) {
  Match match = tactic.match(cx, root);
  if (!match)
    return error(Code::kUnsupported, cx.graph.node(root).op.name(), " '", cx.graph.node(root).name, "': tactic '",
                 tactic.name(), "' refuses it, and there is no other: ", match.error().reason);
  take_note(tactic, *match, root);
  Choice choice{.tactic = &tactic, .region = std::move(*match), .penalty_us = penalty_us};
  for (Variant& variant : tactic.variants(cx, choice.region))
    choice.candidates.push_back({&tactic, std::move(variant), {}, 0, {}});
  by_root_[root].push_back(choices_.size());
  choices_.push_back(std::move(choice));
  return {};
}

bool Choices::has_fallback(ir::NodeId root) const {
  return std::ranges::any_of(rooted_at(root), [&](size_t i) { return choices_[i].penalty_us > 0; });
}

}  // namespace kiln
