#include "ir/testing/interpret.h"

#include "ops/reference_context.h"
#include "sym/real.h"
#include "tensor/view.h"

namespace kiln::ir {
namespace {

using Bindings = std::vector<std::pair<sym::Expr, sym::Expr>>;

Status bind(const TensorType& type, const HostTensor& tensor, Bindings& bindings) {
  TRY(require(type.dtype == tensor.dtype() && type.rank() == tensor.rank(), "an input is ", tensor.dtype(),
              tensor.extents(), "; ", type, " needed"));
  for (int axis = 0; axis < type.rank(); ++axis) {
    const sym::Expr& extent = type.shape[static_cast<size_t>(axis)];
    if (extent.is_symbol()) bindings.emplace_back(extent, tensor.extents()[static_cast<size_t>(axis)]);
  }
  if (!type.values) return {};
  const View view(tensor);
  for (size_t i = 0; i < type.values->size(); ++i)
    if (const sym::Expr element = sym::integer_of((*type.values)[i]); element.is_symbol())
      bindings.emplace_back(element, view.integer(static_cast<int64_t>(i)));
  return {};
}

Status check_assumptions(const Graph& graph, const Bindings& bindings) {
  std::vector<int64_t> symbols(graph.shared_table()->symbols().size(), 0);
  for (const auto& [symbol, value] : bindings) symbols[static_cast<size_t>(symbol.symbol_id())] = value.value();
  for (const sym::Assumption& assumption : graph.assumptions()) TRY(sym::Guard::compile(assumption).check(symbols));
  return {};
}

}  // namespace

Result<std::vector<HostTensor>> interpret(const Graph& graph, const std::vector<HostTensor>& inputs) {
  TRY(require(inputs.size() == graph.inputs().size(), "the graph has ", graph.inputs().size(), " inputs; ",
              inputs.size(), " were given"));
  Bindings bindings;
  std::vector<HostTensor> values(static_cast<size_t>(graph.num_values()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    TRY(bind(graph.type(graph.inputs()[i]), inputs[i], bindings));
    values[index(graph.inputs()[i])] = inputs[i];
  }
  TRY(check_assumptions(graph, bindings));
  for (const NodeId id : TRY(graph.topological_order())) {
    const Node& node = graph.node(id);
    std::vector<const HostTensor*> operands;
    for (const ValueId input : node.inputs)
      operands.push_back(input == ValueId::kNone ? nullptr : &values[index(input)]);
    auto results = TRY(in_context(run_reference(substitute(node.op, bindings), operands),
                                  [&] { return str(node.op.name(), " '", node.name, "'"); }));
    for (size_t i = 0; i < results.size(); ++i) values[index(node.outputs[i])] = std::move(results[i]);
  }
  std::vector<HostTensor> outputs;
  for (const Output& output : graph.outputs()) outputs.push_back(values[index(output.value)]);
  return outputs;
}

}  // namespace kiln::ir
