#include "ir/shape_tensors.h"

#include <algorithm>
#include <vector>

#include "ops/shape.h"

namespace kiln::ir {
namespace {

/// Whether an extent, or an attribute that an importer made of values, depends on one of `symbols`: nothing need read
/// the tensor itself then.
bool is_used(Graph& graph, const std::vector<sym::Expr>& symbols) {
  std::vector<sym::Expr> used;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<NodeId>(i);
    if (!graph.alive(id)) continue;
    collect_symbols(graph.node(id).op, used);
    for (const ValueId output : graph.node(id).outputs)
      if (const auto type = graph.inferred_type(output))
        for (const sym::Expr& extent : type->get().shape) collect_symbols(extent, used);
  }
  return std::ranges::any_of(symbols, [&](const sym::Expr& s) { return std::ranges::find(used, s) != used.end(); });
}

}  // namespace

Result<bool> is_shape_tensor(Graph& graph, ValueId value) {
  const TensorType& type = TRY(graph.inferred_type(value));
  if (!type.values) return false;
  if (graph.producer_as<ops::Shape>(value)) return true;
  if (std::ranges::find(graph.inputs(), value) != graph.inputs().end()) {
    std::vector<sym::Expr> symbols;
    for (const sym::Expr& element : *type.values) collect_symbols(element, symbols);
    if (is_used(graph, symbols)) return true;
  }
  std::vector<bool> seen(static_cast<size_t>(graph.num_values()), false);
  std::vector<ValueId> pending{value};
  seen[index(value)] = true;
  while (!pending.empty()) {
    const ValueId next = pending.back();
    pending.pop_back();
    for (const NodeId user : graph.value(next).users) {
      const Node& node = graph.node(user);
      for (size_t i = 0; i < node.inputs.size() && i < 32; ++i)
        if (node.inputs[i] == next && ((node.op.info().host_inputs >> i) & 1U) != 0) return true;
      for (const ValueId output : node.outputs) {
        if (seen[index(output)]) continue;
        seen[index(output)] = true;
        const auto inferred = graph.inferred_type(output);
        if (inferred && inferred->get().values) pending.push_back(output);
      }
    }
  }
  return false;
}

}  // namespace kiln::ir
