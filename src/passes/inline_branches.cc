#include "passes/inline_branches.h"

#include <optional>

#include "ir/copy.h"
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

Status inline_branch(ir::Graph& graph, ir::NodeId id, bool condition) {
  const std::shared_ptr<ir::Graph> body = graph.node(id).bodies[condition ? 0 : 1];  // outlives the node
  ir::Places places(static_cast<size_t>(body->num_values()), ir::ValueId::kNone);
  for (size_t i = 0; i < body->inputs().size(); ++i)
    places[ir::index(body->inputs()[i])] = graph.node(id).inputs[i + 1];
  const std::vector<std::string> provenance = graph.node(id).provenance;
  places = TRY(ir::splice(graph, *body, std::move(places), provenance));
  std::vector<ir::ValueId> outputs;
  for (const ir::Output& output : body->outputs())
    if (const ir::ValueId value = places[ir::index(output.value)]; output.name.empty())
      graph.mark_output(value, "", output.tap);  // an assertion, which runs in the branch's place
    else
      outputs.push_back(value);
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
