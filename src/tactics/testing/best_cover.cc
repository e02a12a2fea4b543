#include "tactics/testing/best_cover.h"

#include <algorithm>
#include <set>

namespace kiln::testing {
namespace {

struct Option {
  Region region;
  Variant variant;
  double cost_us;
};
using Wanted = std::map<ir::ValueId, std::set<std::string>>;

class Exhaustive {
 public:
  Exhaustive(const ir::Graph& graph, FakeBackend& backend)
      : graph_(graph), backend_(backend), order_(graph.topological_order().value()) {
    find_options();
  }

  double run() {
    Wanted wanted;
    for (const ir::Output& output : graph_.outputs()) wanted[output.value] = {Format().text()};
    visit(order_.size(), {}, wanted, 0);
    return best_us_;
  }

 private:
  /// Every region that a tactic claims when some set of the graph's values must stay visible.
  void find_options() {
    std::vector<ir::ValueId> inner;
    for (const ir::NodeId id : order_)
      if (!graph_.is_output(graph_.node(id).outputs[0])) inner.push_back(graph_.node(id).outputs[0]);
    CHECK(inner.size() < 12);
    std::set<std::pair<const Tactic*, std::vector<ir::NodeId>>> known;
    for (uint32_t mask = 0; mask < 1u << inner.size(); ++mask) {
      ir::Graph marked = graph_.clone();
      for (size_t i = 0; i < inner.size(); ++i)
        if (mask >> i & 1) marked.mark_output(inner[i], "");
      const TacticContext cx{marked, numerics_, backend_.device()};
      for (const ir::NodeId root : order_)
        for (const Tactic* tactic : backend_.tactics(graph_.node(root).op.info()))
          if (const Match match = tactic->match(cx, root); match && known.emplace(tactic, match->nodes).second)
            for (const Variant& variant : tactic->variants(cx, *match))
              options_[root].push_back(
                  {*match, variant,
                   backend_.time_us(graph_, *match, tactic->name(), variant.name) + backend_.step_overhead_us()});
    }
  }

  double reformat_us() const { return backend_.reformat_estimate_us({}, {}, {}) + backend_.step_overhead_us(); }

  void visit(size_t position, const std::set<ir::NodeId>& claimed, const Wanted& wanted, double cost_us) {
    if (cost_us >= best_us_) return;
    if (position == 0) {
      for (const ir::ValueId input : graph_.inputs())
        if (const auto found = wanted.find(input); found != wanted.end())
          cost_us += reformat_us() * static_cast<double>(found->second.size() - found->second.count(Format().text()));
      best_us_ = std::min(best_us_, cost_us);
      return;
    }
    const ir::NodeId root = order_[position - 1];
    if (claimed.contains(root)) return visit(position - 1, claimed, wanted, cost_us);
    for (const Option& option : options_[root]) {
      if (std::ranges::any_of(option.region.nodes, [&](ir::NodeId id) { return claimed.contains(id); })) continue;
      std::set<ir::NodeId> claims = claimed;
      claims.insert(option.region.nodes.begin(), option.region.nodes.end());
      Wanted wants = wanted;
      const std::set<std::string>& formats = wants[option.region.outputs[0]];
      const size_t others = formats.size() - formats.count(option.variant.outputs[0].text());
      for (size_t i = 0; i < option.region.inputs.size(); ++i)
        wants[option.region.inputs[i]].insert(option.variant.inputs[i].text());
      visit(position - 1, claims, wants, cost_us + option.cost_us + reformat_us() * static_cast<double>(others));
    }
  }

  const ir::Graph& graph_;
  FakeBackend& backend_;
  std::vector<ir::NodeId> order_;
  const Numerics numerics_;
  std::map<ir::NodeId, std::vector<Option>> options_;
  double best_us_ = 1e30;
};

}  // namespace

double best_cover_us(const ir::Graph& graph, FakeBackend& backend) { return Exhaustive(graph, backend).run(); }

double cover_us(const ir::Graph& graph, const FakeBackend& backend, const Cover& cover) {
  double result = 0;
  for (const Tile& tile : cover.tiles)
    result += backend.step_overhead_us() +
              (tile.tactic ? backend.time_us(graph, tile.region, tile.tactic->name(), tile.variant.name)
                           : backend.reformat_estimate_us({}, {}, {}));
  return result;
}

}  // namespace kiln::testing
