#include "passes/remove_dead.h"

#include <algorithm>
#include <set>

#include "ir/bodies.h"

namespace kiln::passes {
namespace {

bool is_unused(const ir::Graph& graph, ir::NodeId id) {
  return std::ranges::all_of(graph.node(id).outputs, [&](ir::ValueId output) { return graph.num_uses(output) == 0; });
}

/// The ids of symbols in the attributes of ops: who decides one of them has to run, though nobody reads its outputs.
class NeededSymbols {
 public:
  void add(const ir::Node& node) {
    std::vector<sym::Expr> symbols;
    ir::collect_symbols(node, symbols);
    for (const sym::Expr& symbol : symbols) ids_.insert(symbol.symbol_id());
  }
  bool has_any(const ir::Node& node) const {
    return std::ranges::any_of(node.sizes,
                               [&](const DecidedSize& size) { return ids_.contains(size.symbol.symbol_id()); });
  }

 private:
  std::set<int> ids_;
};

}  // namespace

Status remove_dead(ir::Graph& graph, PassContext&) {
  const std::vector<ir::NodeId> order = TRY(graph.topological_order());
  const bool decides = std::ranges::any_of(order, [&](ir::NodeId id) { return !graph.node(id).sizes.empty(); });
  NeededSymbols needed;
  for (auto id = order.rbegin(); id != order.rend(); ++id)
    if (is_unused(graph, *id) && !needed.has_any(graph.node(*id)))
      graph.remove(*id);
    else if (decides)
      needed.add(graph.node(*id));
  return {};
}

}  // namespace kiln::passes
