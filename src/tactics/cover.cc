#include "tactics/cover.h"

#include <algorithm>
#include <set>

#include "tactics/timer.h"

namespace kiln {

Record to_record(const Numerics& numerics) {
  Record record;
  record.set("tf32", numerics.tf32).set("fp16", numerics.fp16).set("bf16", numerics.bf16);
  record.set("strongly_typed", numerics.strongly_typed);
  return record;
}

namespace {

/// A region claimed by a tactic, with what other tactics said of its root.
struct Claim {
  Region region;
  const Tactic* tactic = nullptr;
  std::vector<std::string> notes;
};

/// Nodes already in a region may not be claimed again, and nodes inside one may not be read from outside.
Status check_region(const ir::Graph& graph, const Region& region, const std::vector<bool>& claimed) {
  const std::set<ir::NodeId> inside(region.nodes.begin(), region.nodes.end());
  const std::set<ir::ValueId> seen(region.outputs.begin(), region.outputs.end());
  for (const ir::NodeId id : region.nodes) {
    TRY(require(!claimed[ir::index(id)], "node '", graph.node(id).name, "' is in two regions"));
    for (const ir::ValueId output : graph.node(id).outputs) {
      if (seen.contains(output)) continue;
      TRY(require(!graph.is_output(output), "an output of the network is inside a region"));
      for (const ir::NodeId user : graph.value(output).users)
        TRY(require(inside.contains(user), "a value inside a region is read outside it"));
    }
  }
  return {};
}

/// Whether a tensor's elements lie in the same order in both formats: the axes whose order differs have extent 1.
bool same_layout(const TensorType& type, const Format& a, const Format& b) {
  if (a.is_blocked() || b.is_blocked()) return false;
  const auto order = [&](const Format& format) {
    std::vector<int> axes;
    for (int i = 0; i < type.rank(); ++i)
      if (type.shape[static_cast<size_t>(format.axis_at(i))] != sym::Expr(1)) axes.push_back(format.axis_at(i));
    return axes;
  };
  return order(a) == order(b);
}

class Coverer {
 public:
  Coverer(const TacticContext& cx, const Backend& backend, Timer& timer, const CoverOptions& options, Log& log)
      : cx_(cx), backend_(backend), timer_(timer), options_(options), log_(log) {}

  Result<Cover> run() {
    std::vector<Claim> claims = TRY(claim_regions());
    cover_.value_formats.assign(static_cast<size_t>(cx_.graph.num_values()), Format::linear());
    for (const ir::ValueId input : cx_.graph.inputs()) set_format(input, surface_format(input));
    int done = 0;
    for (Claim& claim : claims) {
      TRY(place(std::move(claim)));
      if (options_.progress && !options_.progress(options_.progress_user, ++done, static_cast<int>(claims.size())))
        return error(Code::kState, "the build was cancelled by its progress monitor");
    }
    for (const ir::Output& output : cx_.graph.outputs())
      if (!cx_.graph.constant(output.value)) require_format(output.value, surface_format(output.value));
    return std::move(cover_);
  }

 private:
  Result<std::vector<Claim>> claim_regions();
  Result<Claim> claim(ir::NodeId root);
  Status place(Claim claim);
  double reformat_cost(const Region& region, const Variant& variant) const;
  void require_format(ir::ValueId value, const Format& wanted);

  Format surface_format(ir::ValueId value) const {
    const auto found = options_.surface_formats.find(value);
    return found == options_.surface_formats.end() ? Format::linear() : found->second;
  }
  const Format& format(ir::ValueId value) const { return cover_.value_formats[ir::index(value)]; }
  void set_format(ir::ValueId value, const Format& f) { cover_.value_formats[ir::index(value)] = f; }
  bool is_data(ir::ValueId value) const { return value != ir::ValueId::kNone && !cx_.graph.constant(value); }

  const TacticContext& cx_;
  const Backend& backend_;
  Timer& timer_;
  const CoverOptions& options_;
  Log& log_;
  std::vector<bool> claimed_;
  std::set<ir::ValueId> read_;  // inputs of the regions claimed so far
  Cover cover_;
  std::set<std::pair<ir::ValueId, std::string>> copies_;  // values that a reformat has already brought to a format
};

/// From the last node to the first, so that a region is rooted at its last node and grows towards its inputs.
Result<std::vector<Claim>> Coverer::claim_regions() {
  claimed_.assign(static_cast<size_t>(cx_.graph.num_nodes()), false);
  std::vector<Claim> claims;
  const std::vector<ir::NodeId> order = TRY(cx_.graph.topological_order());
  for (auto root = order.rbegin(); root != order.rend(); ++root) {
    const ir::Node& node = cx_.graph.node(*root);
    if (claimed_[ir::index(*root)] || cx_.graph.constant(node.outputs[0])) continue;
    // What only a shape needed is read by no region: its numbers became the parameters of steps.
    const auto is_read = [&](ir::ValueId value) { return cx_.graph.is_output(value) || read_.contains(value); };
    if (!node.op.has(Trait::kSideEffect) && std::ranges::none_of(node.outputs, is_read)) continue;
    Claim made = TRY(claim(*root));
    read_.insert(made.region.inputs.begin(), made.region.inputs.end());
    for (const ir::NodeId id : made.region.nodes) claimed_[ir::index(id)] = true;
    claims.push_back(std::move(made));
  }
  std::ranges::reverse(claims);
  return claims;
}

Result<Claim> Coverer::claim(ir::NodeId root) {
  const ir::Node& node = cx_.graph.node(root);
  Claim result;
  for (const Tactic* tactic : backend_.tactics(node.op.info())) {
    Match match = tactic->match(cx_, root);
    if (match)
      if (Status sound = check_region(cx_.graph, *match, claimed_); !sound) match = reject(sound.error().message);
    if (match && !result.tactic) {
      result.tactic = tactic;
      result.region = std::move(*match);
    } else if (!match) {
      result.notes.push_back(str(tactic->name(), ": refused: ", match.error().reason));
    }
  }
  if (!result.tactic) {
    log_.warning("no tactic takes ", node.op.name(), " '", node.name, "'; it runs by its reference, which is slow");
    result.tactic = &backend_.fallback();
    Match match = result.tactic->match(cx_, root);
    if (!match) return error(Code::kInternal, "the fallback refuses ", node.op, ": ", match.error().reason);
    result.region = std::move(*match);
  }
  return result;
}

double Coverer::reformat_cost(const Region& region, const Variant& variant) const {
  double cost = 0;
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    const ir::ValueId value = region.inputs[i];
    if (is_data(value) && !same_layout(cx_.graph.type(value), format(value), variant.inputs[i]))
      cost += backend_.reformat_estimate_us(cx_.graph.type(value), format(value), variant.inputs[i]);
  }
  return cost;
}

Status Coverer::place(Claim claim) {
  std::vector<Candidate> candidates;
  for (Variant& variant : claim.tactic->variants(cx_, claim.region)) {
    StepDraft draft = TRY(claim.tactic->compile(cx_, claim.region, variant));
    candidates.push_back({claim.tactic, std::move(variant), std::move(draft), 0, {}});
  }
  CHECK(!candidates.empty());
  if (candidates.size() > 1 && cx_.optimization_level > 0) {
    TRY(timer_.time(cx_, claim.region, candidates));
  } else {
    for (Candidate& candidate : candidates) candidate.time_us = candidate.variant.estimate_us;
  }
  const Candidate* best = nullptr;
  double best_us = 0;
  for (const Candidate& candidate : candidates) {
    if (!candidate.failure.empty()) {
      claim.notes.push_back(str(claim.tactic->name(), " (", candidate.variant.name, "): failed: ", candidate.failure));
      continue;
    }
    const double reformat_us = reformat_cost(claim.region, candidate.variant),
                 total_us = candidate.time_us + reformat_us;
    claim.notes.push_back(str(claim.tactic->name(), " (", candidate.variant.name, "): ", candidate.time_us, " us + ",
                              reformat_us, " us of reformats"));
    if (!best || total_us < best_us) best = &candidate, best_us = total_us;
  }
  const ir::Node& root = cx_.graph.node(claim.region.nodes.back());
  if (!best)
    return error(Code::kDevice, root.op.name(), " '", root.name, "': every tactic failed; ", claim.notes.back());
  for (size_t i = 0; i < claim.region.inputs.size(); ++i)
    if (is_data(claim.region.inputs[i])) require_format(claim.region.inputs[i], best->variant.inputs[i]);
  for (size_t i = 0; i < claim.region.outputs.size(); ++i)
    set_format(claim.region.outputs[i], best->variant.outputs[i]);
  log_.verbose(root.op.name(), " '", root.name, "': ", claim.tactic->name(), " (", best->variant.name, "), ", best_us,
               " us");
  for (const std::string& note : claim.notes) log_.verbose("  ", note);
  cover_.tiles.push_back(
      {std::move(claim.region), best->tactic, best->variant, best->draft, best->time_us, std::move(claim.notes)});
  return {};
}

void Coverer::require_format(ir::ValueId value, const Format& wanted) {
  if (format(value) == wanted || !copies_.insert({value, wanted.text()}).second) return;
  const TensorType& type = cx_.graph.type(value);
  Tile tile;
  tile.region = {{}, {value}, {value}, {}};
  tile.variant = {str(format(value), " to ", wanted), {format(value)}, {wanted}, {}, 0};
  if (same_layout(type, format(value), wanted)) {
    tile.draft = {.executor = {}, .kernel = "view"};
  } else {
    tile.draft = backend_.reformat(type, format(value), wanted);
    tile.time_us = backend_.reformat_estimate_us(type, format(value), wanted);
  }
  cover_.tiles.push_back(std::move(tile));
}

}  // namespace

Result<Cover> cover_graph(const TacticContext& cx, const Backend& backend, Timer& timer, const CoverOptions& options,
                          Log& log) {
  return Coverer(cx, backend, timer, options, log).run();
}

}  // namespace kiln
