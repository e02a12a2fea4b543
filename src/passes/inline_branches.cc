#include "passes/inline_branches.h"

#include <map>
#include <optional>

#include "ops/if.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

std::optional<bool> known_condition(const ir::Graph& graph, ir::ValueId condition) {
  if (const HostTensor* known = graph.constant(condition)) return View(*known)[0] != 0;
  const auto& values = graph.type(condition).values;
  if (!values || values->size() != 1 || !(*values)[0].is_const()) return std::nullopt;
  return (*values)[0].value() != 0;
}

/// Copies a body's nodes into the graph; the values that its outputs become.
Result<std::vector<ir::ValueId>> splice(ir::Graph& graph, const ir::Graph& body, const ir::Node& node) {
  std::map<ir::ValueId, ir::ValueId> moved;
  for (size_t i = 0; i < body.inputs().size(); ++i) moved[body.inputs()[i]] = node.inputs[i + 1];
  const std::vector<std::string> provenance = node.provenance;
  for (const ir::NodeId id : TRY(body.topological_order())) {
    const ir::Node& inner = body.node(id);
    std::vector<ir::ValueId> inputs;
    for (const ir::ValueId input : inner.inputs)
      inputs.push_back(input == ir::ValueId::kNone ? input : moved.at(input));
    const ir::NodeId copy = graph.add_lazily(inner.op, inputs, inner.name);
    graph.set_sizes(copy, inner.sizes);
    graph.set_bodies(copy, inner.bodies);
    graph.set_provenance(copy, inner.provenance.empty() ? provenance : inner.provenance);
    for (size_t i = 0; i < inner.outputs.size(); ++i) {
      moved[inner.outputs[i]] = graph.node(copy).outputs[i];
      graph.set_name(graph.node(copy).outputs[i], body.value(inner.outputs[i]).name);
    }
  }
  std::vector<ir::ValueId> outputs;
  for (const ir::Output& output : body.outputs())
    if (output.name.empty())
      graph.mark_output(moved.at(output.value), "");  // an assertion, which runs in the branch's place
    else
      outputs.push_back(moved.at(output.value));
  return outputs;
}

Status inline_branch(ir::Graph& graph, ir::NodeId id, bool condition) {
  const std::shared_ptr<ir::Graph> body = graph.node(id).bodies[condition ? 0 : 1];  // outlives the node
  const std::vector<ir::ValueId> outputs = TRY(splice(graph, *body, graph.node(id)));
  const ir::Node& node = graph.node(id);
  const std::vector<DecidedAxis> decided = node.op.as<ops::If>()->decided;
  const std::vector<DecidedSize> sizes = node.sizes;
  for (size_t i = 0; i < outputs.size(); ++i) graph.replace_uses(node.outputs[i], outputs[i]);
  graph.remove(id);
  for (size_t k = 0; k < decided.size(); ++k) {
    const TensorType& type = TRY(graph.inferred_type(outputs[static_cast<size_t>(decided[k].output)]));
    graph.replace_size(sizes[k].symbol, type.shape[static_cast<size_t>(decided[k].axis)]);
  }
  return graph.infer();
}

}  // namespace

Status inline_branches(ir::Graph& graph, PassContext&) {
  for (int i = 0; i < graph.num_nodes(); ++i) {  // what a branch has inside comes behind
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id) || !graph.node(id).op.as<ops::If>()) continue;
    if (const auto condition = known_condition(graph, graph.node(id).inputs[0]))
      TRY(inline_branch(graph, id, *condition));
  }
  return {};
}

}  // namespace kiln::passes
