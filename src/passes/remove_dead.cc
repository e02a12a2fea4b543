#include "passes/remove_dead.h"

#include <algorithm>

namespace kiln::passes {

Status remove_dead(ir::Graph& graph, PassContext&) {
  const std::vector<ir::NodeId> order = TRY(graph.topological_order());
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const ir::Node& node = graph.node(*id);
    if (std::ranges::all_of(node.outputs, [&](ir::ValueId output) { return graph.num_uses(output) == 0; }))
      graph.remove(*id);
  }
  return {};
}

}  // namespace kiln::passes
