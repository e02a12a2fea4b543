#include <algorithm>

#include "ir/graph.h"
#include "ops/infer_context.h"

namespace kiln::ir {
namespace {

Status verify_node(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  for (const ValueId input : node.inputs) {
    if (input == ValueId::kNone) continue;
    TRY(require(index(input) < static_cast<size_t>(graph.num_values()), "input %", static_cast<int>(input),
                " does not exist"));
    const Value& value = graph.value(input);
    TRY(require(value.producer == NodeId::kNone || graph.alive(value.producer), "input %", static_cast<int>(input),
                " comes from a removed node"));
    const auto uses = std::count(node.inputs.begin(), node.inputs.end(), input);
    const auto noted = std::count(value.users.begin(), value.users.end(), id);
    TRY(require(uses == noted, "input %", static_cast<int>(input), " is used ", uses, " times and noted ", noted));
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Value& value = graph.value(node.outputs[i]);
    TRY(require(value.producer == id && value.output == static_cast<int>(i), "output ", i, " has another producer"));
  }
  return {};
}

/// Types must be what inference finds from the types above.
Status verify_types(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.bodies.empty()) return {};  // each body's own types are verified
  std::vector<InferInput> inputs;
  for (const ValueId input : node.inputs)
    inputs.push_back(input == ValueId::kNone ? InferInput{} : InferInput{&graph.type(input), graph.constant(input)});
  std::vector<DecidedSize> sizes = node.sizes;
  const auto types = TRY(infer_types(node.op, inputs, *graph.shared_table(), nullptr, &sizes));
  for (size_t i = 0; i < types.size(); ++i) {
    const TensorType& stored = graph.type(node.outputs[i]);
    bool same = stored.dtype == types[i].dtype && stored.rank() == types[i].rank();
    for (int axis = 0; same && axis < stored.rank(); ++axis)
      same = sym::compare_equal(stored.shape[static_cast<size_t>(axis)], types[i].shape[static_cast<size_t>(axis)]) !=
             sym::Truth::kNo;
    TRY(require(same, "output ", i, " is ", stored, "; inference finds ", types[i]));
  }
  return {};
}

}  // namespace

Status verify(const Graph& graph) {
  for (const NodeId id : TRY(graph.topological_order())) {
    const auto where = [&] {
      return str("node #", static_cast<int>(id), " '", graph.node(id).name, "' ", graph.node(id).op);
    };
    TRY(in_context(verify_node(graph, id), where));
    TRY(in_context(verify_types(graph, id), where));
    for (const auto& body : graph.node(id).bodies) TRY(in_context(verify(*body), where));
  }
  std::vector<int> num_outputs(static_cast<size_t>(graph.num_values()), 0);
  for (const Output& output : graph.outputs()) {
    TRY(require(index(output.value) < static_cast<size_t>(graph.num_values()), "output '", output.name,
                "' does not exist"));
    const NodeId producer = graph.value(output.value).producer;
    TRY(require(producer == NodeId::kNone || graph.alive(producer), "output '", output.name,
                "' comes from a removed node"));
    ++num_outputs[index(output.value)];
  }
  for (size_t i = 0; i < num_outputs.size(); ++i) {
    const int noted = graph.value(static_cast<ValueId>(i)).num_outputs;
    TRY(require(num_outputs[i] == noted, "%", i, " is ", num_outputs[i], " outputs and noted as ", noted));
  }
  return {};
}

}  // namespace kiln::ir
