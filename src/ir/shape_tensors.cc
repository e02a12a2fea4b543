#include "ir/shape_tensors.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "ir/bodies.h"
#include "ops/dim_values.h"
#include "ops/shape.h"

namespace kiln::ir {
namespace {

/// Flags by symbol id: whether an extent, or an attribute that an importer made of values, depends on the symbol. This
/// can be so although no node reads the shape tensor itself.
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
    collect_symbols(graph.node(id), found);
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

/// Each value once, in no order that matters.
class Walk {
 public:
  explicit Walk(const Graph& graph) : seen_(static_cast<size_t>(graph.num_values()), false) {}
  void add(ValueId value) {
    if (value == ValueId::kNone || seen_[index(value)]) return;
    seen_[index(value)] = true;
    pending_.push_back(value);
  }
  bool empty() const { return pending_.empty(); }
  ValueId take() {
    const ValueId next = pending_.back();
    pending_.pop_back();
    return next;
  }

 private:
  std::vector<bool> seen_;
  std::vector<ValueId> pending_;
};

bool has_values(Graph& graph, ValueId value) {
  if (value == ValueId::kNone) return false;
  const auto type = graph.inferred_type(value);
  return type && type->get().values;
}

/// Whether a value is computed from a Shape, or from numbers made of shapes.
bool follows_from_shapes(Graph& graph, ValueId value) {
  Walk walk(graph);
  for (walk.add(value); !walk.empty();) {
    const NodeId producer = graph.value(walk.take()).producer;
    if (producer == NodeId::kNone) continue;
    const Node& node = graph.node(producer);
    if (node.op.as<ops::Shape>() || node.op.as<ops::DimValues>()) return true;
    const std::vector<ValueId> inputs = node.inputs;  // inferring may move nodes
    for (const ValueId input : inputs)
      if (has_values(graph, input)) walk.add(input);
  }
  return false;
}

/// Whether shapes depend on a value, or on one that is computed from it.
bool is_needed(Graph& graph, ValueId value, std::span<const ValueId> marked) {
  Walk walk(graph);
  for (walk.add(value); !walk.empty();) {
    const ValueId next = walk.take();
    if (std::ranges::find(marked, next) != marked.end()) return true;
    const std::vector<NodeId> users(graph.value(next).users.begin(), graph.value(next).users.end());
    for (const NodeId user : users) {
      const Node& node = graph.node(user);
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (node.inputs[i] == next && node.op.info().reads_on_host(i)) return true;
      const std::vector<ValueId> outputs = node.outputs;
      for (const ValueId output : outputs)
        if (has_values(graph, output)) walk.add(output);
    }
  }
  return false;
}

bool is_input(const Graph& graph, ValueId value) {
  return graph.value(value).producer == NodeId::kNone &&
         std::ranges::find(graph.inputs(), value) != graph.inputs().end();
}

}  // namespace

Result<bool> is_shape_tensor(Graph& graph, ValueId value, std::span<const ValueId> marked) {
  const TensorType& type = TRY(graph.inferred_type(value));
  if (!type.values) return false;
  if (is_input(graph, value) && is_used(*type.values, used_symbols(graph))) return true;
  return follows_from_shapes(graph, value) || is_needed(graph, value, marked);
}

std::vector<ValueId> shape_inputs(Graph& graph) {
  std::vector<ValueId> result;
  std::optional<std::vector<bool>> used;
  for (const ValueId input : graph.inputs()) {
    const auto& values = graph.type(input).values;
    if (!values) continue;
    if (!used) used = used_symbols(graph);
    if (is_used(*values, *used) || is_needed(graph, input, {})) result.push_back(input);
  }
  return result;
}

bool is_execution_tensor(const Graph& graph, ValueId value) {
  Walk walk(graph);
  for (walk.add(value); !walk.empty();) {
    const ValueId next = walk.take();
    if (graph.is_output(next)) return true;
    for (const NodeId user : graph.value(next).users) {
      const Node& node = graph.node(user);
      if (node.op.as<ops::Shape>()) continue;
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (node.inputs[i] == next && !node.op.info().reads_on_host(i))
          for (const ValueId output : node.outputs) walk.add(output);
    }
  }
  return false;
}

}  // namespace kiln::ir
