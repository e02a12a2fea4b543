#include "passes/slice_spec_of.h"

#include <numeric>

#include "ops/movement.h"

namespace kiln::passes {
namespace {

/// The values of input `i`, or the attribute where it is absent.
std::optional<SymbolicValues> values_of(const ir::Graph& graph, const ir::Node& node, size_t i,
                                        const std::vector<int64_t>& attribute) {
  if (i >= node.inputs.size() || node.inputs[i] == ir::ValueId::kNone)
    return SymbolicValues(attribute.begin(), attribute.end());
  const TensorType& type = graph.type(node.inputs[i]);
  return type.values ? std::optional(*type.values) : std::nullopt;
}

}  // namespace

std::optional<SliceSpec> slice_spec_of(const ir::Graph& graph, ir::NodeId slice) {
  const ir::Node& node = graph.node(slice);
  const auto& op = *node.op.as<ops::Slice>();
  const TensorType& x = graph.type(node.inputs[0]);
  const auto starts = values_of(graph, node, 1, op.starts), sizes = values_of(graph, node, 2, op.sizes),
             strides = values_of(graph, node, 3, op.strides), axes = values_of(graph, node, 5, op.axes);
  if (!starts || !sizes || !strides || !axes) return std::nullopt;
  std::vector<int64_t> along;
  for (const sym::Expr& axis : *axes) {
    if (!axis.is_const()) return std::nullopt;
    along.push_back(axis.value());
  }
  if (along.empty()) {
    along.resize(x.shape.size());
    std::iota(along.begin(), along.end(), 0);
  }
  const auto order = distinct_axes(along, x.rank());
  if (!order) return std::nullopt;
  auto spec = slice_spec(x, *starts, *sizes, *strides, *order);
  return spec ? std::optional(std::move(*spec)) : std::nullopt;
}

}  // namespace kiln::passes
