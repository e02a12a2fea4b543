#include "passes/merge_common.h"

#include <map>

#include "passes/deterministic.h"

namespace kiln::passes {

Status merge_common(ir::Graph& graph, PassContext&) {
  std::map<Hash128, ir::NodeId> seen;
  for (const ir::NodeId id : TRY(graph.topological_order())) {
    const ir::Node& node = graph.node(id);
    if (!is_deterministic(node.op) || !node.bodies.empty()) continue;
    std::string inputs;
    for (const ir::ValueId input : node.inputs) inputs += str(static_cast<int>(input), ',');
    const auto [at, is_new] = seen.emplace(combine(hash128(node.op), hash128(std::string_view(inputs))), id);
    if (is_new) continue;
    for (size_t i = 0; i < node.outputs.size(); ++i)
      graph.replace_uses(node.outputs[i], graph.node(at->second).outputs[i]);
    graph.remove(id);
  }
  return graph.infer();
}

}  // namespace kiln::passes
