#include "ir/interpret.h"

#include <algorithm>
#include <cstring>

#include "ops/bodies.h"
#include "ops/reference_context.h"
#include "sym/real.h"
#include "tensor/view.h"

namespace kiln::ir {
namespace {

using Bindings = std::vector<std::pair<sym::Expr, sym::Expr>>;

void rebind(Bindings& bindings, const sym::Expr& symbol, int64_t value) {
  const auto found = std::ranges::find(bindings, symbol, &std::pair<sym::Expr, sym::Expr>::first);
  found == bindings.end() ? void(bindings.emplace_back(symbol, value)) : void(found->second = value);
}

Status bind(const TensorType& type, const HostTensor& tensor, Bindings& bindings) {
  TRY(require(type.dtype == tensor.dtype() && type.rank() == tensor.rank(), "an input is ", tensor.dtype(),
              tensor.extents(), "; ", type, " needed"));
  for (int axis = 0; axis < type.rank(); ++axis) {
    const sym::Expr& extent = type.shape[static_cast<size_t>(axis)];
    if (extent.is_symbol()) rebind(bindings, extent, tensor.extents()[static_cast<size_t>(axis)]);
  }
  if (!type.values) return {};
  const View view(tensor);
  for (size_t i = 0; i < type.values->size(); ++i)
    if (const sym::Expr element = sym::integer_of((*type.values)[i]); element.is_symbol())
      rebind(bindings, element, view.integer(static_cast<int64_t>(i)));
  return {};
}

Status check_assumptions(const Graph& graph, const Bindings& bindings) {
  std::vector<int64_t> symbols(graph.shared_table()->symbols().size(), 0);
  for (const auto& [symbol, value] : bindings) symbols[static_cast<size_t>(symbol.symbol_id())] = value.value();
  for (const sym::Assumption& assumption : graph.assumptions()) TRY(sym::Guard::compile(assumption).check(symbols));
  return {};
}

Result<std::vector<HostTensor>> interpret_in(const Graph& graph, const std::vector<HostTensor>& inputs,
                                             Bindings bindings, ValueSink* sink);

class Runs final : public BodyRuns {
 public:
  Runs(const Node& node, const Bindings& bindings, ValueSink* sink) : node_(node), bindings_(bindings), sink_(sink) {}
  int count() const override { return static_cast<int>(node_.bodies.size()); }
  Result<std::vector<HostTensor>> run(int body, std::span<const HostTensor> inputs) override {
    return interpret_in(*node_.bodies[static_cast<size_t>(body)], {inputs.begin(), inputs.end()}, bindings_, sink_);
  }

 private:
  const Node& node_;
  const Bindings& bindings_;
  ValueSink* const sink_;
};

/// Runs the reference of a node with bodies, its outputs as large as they may be, and cuts them to what was decided.
Result<std::vector<HostTensor>> run_with_bodies(const Graph& graph, const Node& node,
                                                std::span<const HostTensor* const> operands, const Bindings& bindings,
                                                ValueSink* sink) {
  std::vector<ReferenceTensor> sources, targets;
  for (const HostTensor* x : operands)
    sources.push_back(x ? ReferenceTensor{x->dtype(), x->extents(), const_cast<std::byte*>(x->bytes().data()), true}
                        : ReferenceTensor{});
  std::vector<HostTensor> results;
  std::vector<Extents> most;
  results.reserve(node.outputs.size()), most.reserve(node.outputs.size());
  const auto at_most = [&](const sym::Expr& extent) {
    for (const DecidedSize& size : node.sizes)
      if (size.symbol == extent) return sym::substitute(size.most, bindings).max();
    return sym::substitute(extent, bindings).max();
  };
  for (const ValueId output : node.outputs) {
    Extents& extents = most.emplace_back();
    for (const sym::Expr& extent : graph.type(output).shape) extents.push_back(at_most(extent));
    HostTensor::Fresh fresh = TRY(HostTensor::make(graph.type(output).dtype, extents));
    targets.push_back({fresh.tensor.dtype(), extents, fresh.data.data(), true});
    results.push_back(std::move(fresh.tensor));
  }
  std::vector<int64_t> decided(node.sizes.size());
  ReferenceContext cx(sources, targets, nullptr, decided);
  Runs bodies(node, bindings, sink);
  cx.set_bodies(&bodies);
  TRY(node.op.reference(cx));
  Bindings all = bindings;
  for (size_t k = 0; k < decided.size(); ++k) all.emplace_back(node.sizes[k].symbol, decided[k]);
  for (size_t i = 0; i < results.size(); ++i) {
    Extents extents;
    for (const sym::Expr& extent : graph.type(node.outputs[i]).shape)
      extents.push_back(sym::substitute(extent, all).value());
    HostTensor::Fresh cut = TRY(HostTensor::make(results[i].dtype(), extents));
    if (!cut.data.empty()) std::memcpy(cut.data.data(), results[i].bytes().data(), cut.data.size());
    results[i] = std::move(cut.tensor);
  }
  return results;
}

/// How often each value of a graph is used, by nodes and as an output.
std::vector<int> count_uses(const Graph& graph) {
  std::vector<int> uses(static_cast<size_t>(graph.num_values()), 0);
  for (int i = 0; i < graph.num_nodes(); ++i)
    if (const auto id = static_cast<NodeId>(i); graph.alive(id))
      for (const ValueId input : graph.node(id).inputs)
        if (input != ValueId::kNone) ++uses[index(input)];
  for (const Output& output : graph.outputs()) ++uses[index(output.value)];
  return uses;
}

Result<std::vector<HostTensor>> interpret_in(const Graph& graph, const std::vector<HostTensor>& inputs,
                                             Bindings bindings, ValueSink* sink) {
  TRY(require(inputs.size() == graph.inputs().size(), "the graph has ", graph.inputs().size(), " inputs; ",
              inputs.size(), " were given"));
  std::vector<HostTensor> values(static_cast<size_t>(graph.num_values()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    TRY(bind(graph.type(graph.inputs()[i]), inputs[i], bindings));
    values[index(graph.inputs()[i])] = inputs[i];
  }
  TRY(check_assumptions(graph, bindings));
  std::vector<int> uses = count_uses(graph);
  for (const NodeId id : TRY(graph.topological_order())) {
    const Node& node = graph.node(id);
    std::vector<const HostTensor*> operands;
    for (const ValueId input : node.inputs)
      operands.push_back(input == ValueId::kNone ? nullptr : &values[index(input)]);
    const auto where = [&] { return str(node.op.name(), " '", node.name, "'"); };
    auto results = TRY(in_context(node.bodies.empty() ? run_reference(substitute(node.op, bindings), operands)
                                                      : run_with_bodies(graph, node, operands, bindings, sink),
                                  where));
    for (size_t i = 0; i < results.size(); ++i) {
      const TensorType& type = graph.type(node.outputs[i]);
      for (size_t axis = 0; axis < type.shape.size(); ++axis)
        for (const DecidedSize& size : node.sizes)
          if (size.symbol == type.shape[axis]) rebind(bindings, size.symbol, results[i].extents()[axis]);
      if (sink) TRY(sink->made(graph, node.outputs[i], results[i]));
      if (uses[index(node.outputs[i])] > 0) values[index(node.outputs[i])] = std::move(results[i]);
    }
    for (const ValueId input : node.inputs)
      if (input != ValueId::kNone && --uses[index(input)] == 0) values[index(input)] = HostTensor();
  }
  std::vector<HostTensor> outputs;
  for (const Output& output : graph.outputs()) outputs.push_back(values[index(output.value)]);
  return outputs;
}

}  // namespace

Result<std::vector<HostTensor>> interpret(const Graph& graph, const std::vector<HostTensor>& inputs, ValueSink* sink) {
  return interpret_in(graph, inputs, {}, sink);
}

}  // namespace kiln::ir
