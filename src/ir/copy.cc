#include "ir/copy.h"

#include <algorithm>

namespace kiln::ir {

std::vector<ValueId> placed(const Places& places, std::span<const ValueId> inputs) {
  std::vector<ValueId> result;
  for (const ValueId input : inputs) result.push_back(input == ValueId::kNone ? input : places[index(input)]);
  return result;
}

NodeId copy_node(Graph& to, const Graph& from, NodeId id, Op op, std::span<const ValueId> inputs) {
  const Node& node = from.node(id);
  const NodeId copy = to.add_lazily(std::move(op), inputs, node.name);
  to.set_provenance(copy, node.provenance);
  to.set_bodies(copy, node.bodies);
  to.set_sizes(copy, node.sizes);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    to.set_name(to.node(copy).outputs[i], from.value(node.outputs[i]).name);
    to.add_taps(to.node(copy).outputs[i], from.value(node.outputs[i]));
  }
  return copy;
}

Status infer_copy(Graph& graph, NodeId id) {
  const std::vector<ValueId>& outputs = graph.node(id).outputs;
  if (outputs.empty()) return graph.infer();
  TRY(graph.inferred_type(outputs[0]));
  return {};
}

Result<Places> splice(Graph& to, const Graph& body, Places places, const std::vector<std::string>& provenance) {
  const auto is_placed = [&](ValueId value) { return places[index(value)] != ValueId::kNone; };
  for (const NodeId id : TRY(body.topological_order())) {
    const Node& node = body.node(id);
    if (!node.outputs.empty() && std::ranges::all_of(node.outputs, is_placed)) continue;
    const NodeId copy = copy_node(to, body, id, node.op, placed(places, node.inputs));
    if (node.provenance.empty()) to.set_provenance(copy, provenance);
    for (size_t i = 0; i < node.outputs.size(); ++i) places[index(node.outputs[i])] = to.node(copy).outputs[i];
    TRY(infer_copy(to, copy));
  }
  return places;
}

}  // namespace kiln::ir
