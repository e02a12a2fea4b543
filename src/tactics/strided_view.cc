#include "tactics/strided_view.h"

#include <algorithm>
#include <numeric>

#include "ops/expand.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "tactics/host_values.h"
#include "tensor/refinement.h"

namespace kiln {
namespace {

bool keeps_order(const Op& op) { return op.as<ops::Reshape>() || op.as<ops::Squeeze>() || op.as<ops::Unsqueeze>(); }

std::optional<StridedView> transposed(const StridedView& x, const std::vector<int64_t>& perm) {
  StridedView y{x.source, x.offset, {}, {}};
  for (const int64_t axis : perm) {
    y.extents.push_back(x.extents[static_cast<size_t>(axis)]);
    y.strides.push_back(x.strides[static_cast<size_t>(axis)]);
  }
  return y;
}

/// The view under another shape, if strides can express it: axes are split as needed, and joined where the outer step
/// is the inner axis's length.
std::optional<StridedView> reshaped(const StridedView& x, const Shape& to) {
  const auto refined = refine(x.extents, to);
  if (!refined) return std::nullopt;
  Shape steps(refined->pieces.size());
  for (size_t axis = 0; axis < x.extents.size(); ++axis) {
    sym::Expr step = x.strides[axis];
    for (auto piece = refined->from[axis].rbegin(); piece != refined->from[axis].rend(); ++piece) {
      const auto at = static_cast<size_t>(*piece);
      steps[at] = step;
      step *= refined->pieces[at];
    }
  }
  StridedView y{x.source, x.offset, to, {}};
  for (const std::vector<int64_t>& pieces : refined->to) {
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      const auto outer = static_cast<size_t>(pieces[i]), inner = static_cast<size_t>(pieces[i + 1]);
      if (steps[outer] != steps[inner] * refined->pieces[inner]) return std::nullopt;
    }
    y.strides.push_back(pieces.empty() ? sym::Expr(0) : steps[static_cast<size_t>(pieces.back())]);
  }
  return y;
}

std::optional<StridedView> expanded(const StridedView& x, const Shape& to) {
  StridedView y{x.source, x.offset, to, Shape(to.size(), 0)};
  const size_t missing = to.size() - x.extents.size();
  for (size_t axis = 0; axis < x.extents.size(); ++axis) {
    if (x.extents[axis] == to[missing + axis])
      y.strides[missing + axis] = x.strides[axis];
    else if (x.extents[axis] != sym::Expr(1))
      return std::nullopt;
  }
  return y;
}

/// Numbers from the input if it is there, else from the attribute; nothing where they are computed from data.
std::optional<SymbolicValues> given(const ir::Graph& graph, const ir::Node& node, size_t i,
                                    const std::vector<int64_t>& attribute) {
  if (i >= node.inputs.size() || node.inputs[i] == ir::ValueId::kNone)
    return SymbolicValues(attribute.begin(), attribute.end());
  if (!graph.constant(node.inputs[i]) && !graph.type(node.inputs[i]).values) return std::nullopt;
  return host_values(graph, node, i);
}

std::optional<StridedView> sliced(const ir::Graph& graph, const ir::Node& node, const StridedView& x) {
  const auto& op = *node.op.as<ops::Slice>();
  const TensorType &from = graph.type(node.inputs[0]), &to = graph.type(node.outputs[0]);
  const auto starts = given(graph, node, 1, op.starts), sizes = given(graph, node, 2, op.sizes),
             strides = given(graph, node, 3, op.strides), along = given(graph, node, 5, op.axes);
  if (!starts || !sizes || !strides || !along) return std::nullopt;
  std::vector<int> axes;
  for (const sym::Expr& axis : *along) {
    const auto index = normalize_axis(axis.constant().value_or(INT64_MAX), from.rank());
    if (!index) return std::nullopt;
    axes.push_back(*index);
  }
  if (axes.empty()) {
    axes.resize(from.shape.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  const auto spec = slice_spec(from, *starts, *sizes, *strides, axes);
  if (!spec) return std::nullopt;
  StridedView y{x.source, x.offset, to.shape, {}};
  for (size_t axis = 0; axis < x.extents.size(); ++axis) {
    y.offset += spec->starts[axis] * x.strides[axis];
    y.strides.push_back(spec->strides[axis] * x.strides[axis]);
  }
  return y;
}

}  // namespace

StridedView whole_view(const ir::Graph& graph, ir::ValueId value) {
  const Shape& extents = graph.type(value).shape;
  StridedView view{value, 0, extents, Shape(extents.size())};
  sym::Expr step = 1;
  for (size_t axis = extents.size(); axis-- > 0; step *= extents[axis]) view.strides[axis] = step;
  return view;
}

bool may_be_viewed(const ir::Graph& graph, ir::NodeId id) {
  const Op& op = graph.node(id).op;
  if (const auto* slice = op.as<ops::Slice>()) return slice->mode == SliceMode::kStrictBounds;
  return keeps_order(op) || op.as<ops::Transpose>() || op.as<ops::Expand>();
}

bool keeps_rows_readable(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (!may_be_viewed(graph, id) || node.op.as<ops::Expand>() || graph.constant(node.inputs[0])) return false;
  const int rank = graph.type(node.inputs[0]).rank();
  if (const auto* transpose = node.op.as<ops::Transpose>()) return transpose->perm.back() == rank - 1;
  const auto* slice = node.op.as<ops::Slice>();
  if (!slice || rank != 4) return true;
  return !slice->axes.empty() && std::ranges::all_of(slice->axes, [&](int64_t axis) {
    return normalize_axis(axis, rank).value_or(-1) == rank - 1;
  });
}

std::optional<StridedView> moved_view(const ir::Graph& graph, ir::NodeId id, const StridedView& x) {
  const ir::Node& node = graph.node(id);
  const Shape& to = graph.type(node.outputs[0]).shape;
  if (const auto* transpose = node.op.as<ops::Transpose>()) return transposed(x, transpose->perm);
  if (keeps_order(node.op)) return reshaped(x, to);
  if (node.op.as<ops::Expand>()) return expanded(x, to);
  return sliced(graph, node, x);
}

}  // namespace kiln
