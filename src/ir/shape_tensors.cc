#include "ir/shape_tensors.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "ops/shape.h"

namespace kiln::ir {
namespace {

/// By symbol id: whether an extent, or an attribute that an importer made of values, depends on it. Nothing need read
/// the tensor itself then.
std::vector<bool> used_symbols(Graph& graph) {
  std::vector<bool> used(graph.table().symbols().size(), false);
  std::vector<sym::Expr> found;
  const auto mark = [&] {
    for (const sym::Expr& symbol : found) {
      const auto id = static_cast<size_t>(symbol.symbol_id());
      if (id >= used.size()) used.resize(id + 1, false);  // inference may make symbols
      used[id] = true;
    }
    found.clear();
  };
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<NodeId>(i);
    if (!graph.alive(id)) continue;
    collect_symbols(graph.node(id).op, found);
    mark();
    for (const ValueId output : graph.node(id).outputs)
      if (const auto type = graph.inferred_type(output))
        for (const sym::Expr& extent : type->get().shape) collect_symbols(extent, found), mark();
  }
  return used;
}

bool is_used(const SymbolicValues& values, const std::vector<bool>& used) {
  std::vector<sym::Expr> symbols;
  for (const sym::Expr& element : values) collect_symbols(element, symbols);
  return std::ranges::any_of(symbols, [&](const sym::Expr& symbol) {
    const auto id = static_cast<size_t>(symbol.symbol_id());
    return id < used.size() && used[id];
  });
}

/// Whether something below reads the value, or what is computed of it on the host, on the host.
bool leads_to_host(Graph& graph, ValueId value) {
  std::set<ValueId> seen{value};
  std::vector<ValueId> pending{value};
  while (!pending.empty()) {
    const ValueId next = pending.back();
    pending.pop_back();
    for (const NodeId user : graph.value(next).users) {
      const Node& node = graph.node(user);
      for (size_t i = 0; i < node.inputs.size() && i < 32; ++i)
        if (node.inputs[i] == next && ((node.op.info().host_inputs >> i) & 1U) != 0) return true;
      for (const ValueId output : node.outputs) {
        if (!seen.insert(output).second) continue;
        const auto inferred = graph.inferred_type(output);
        if (inferred && inferred->get().values) pending.push_back(output);
      }
    }
  }
  return false;
}

bool is_input(const Graph& graph, ValueId value) {
  return graph.value(value).producer == NodeId::kNone &&
         std::ranges::find(graph.inputs(), value) != graph.inputs().end();
}

}  // namespace

Result<bool> is_shape_tensor(Graph& graph, ValueId value) {
  const TensorType& type = TRY(graph.inferred_type(value));
  if (!type.values) return false;
  if (graph.producer_as<ops::Shape>(value)) return true;
  if (is_input(graph, value) && is_used(*type.values, used_symbols(graph))) return true;
  return leads_to_host(graph, value);
}

std::vector<ValueId> shape_inputs(Graph& graph) {
  std::vector<ValueId> result;
  std::optional<std::vector<bool>> used;
  for (const ValueId input : graph.inputs()) {
    const auto& values = graph.type(input).values;
    if (!values) continue;
    if (!used) used = used_symbols(graph);
    if (is_used(*values, *used) || leads_to_host(graph, input)) result.push_back(input);
  }
  return result;
}

}  // namespace kiln::ir
