#include "ops/expand.h"

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::Expand>();

namespace {
Sources expand_sources(std::span<const int64_t> from, std::span<const int64_t> to) {
  const Extents strides = row_major_strides(from);
  const size_t added = to.size() - from.size();
  Sources sources(static_cast<size_t>(volume(to)));
  for_each_index(to, [&](int64_t linear, std::span<const int64_t> index) {
    int64_t source = 0;
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i] != 1) source += index[added + i] * strides[i];
    sources[static_cast<size_t>(linear)] = source;
  });
  return sources;
}
}  // namespace

namespace ops {

Status Expand::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const SymbolicValues to = TRY(dims_of(cx, 1, dims, "shape"));
  for (const sym::Expr& dim : to) TRY(cx.require(dim.max() >= 0, "extent ", dim, " in ", to, " is negative"));
  Shape shape = TRY(in_context(cx.broadcast(x.shape, to), [&] { return str("expanding ", x, " to ", to); }));
  return set_moved_output(cx, 0, TensorType(x.dtype, std::move(shape)), expand_sources);
}

Status Expand::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  move_elements(x, y, expand_sources(x.extents(), y.extents()));
  return {};
}

AxisMap Expand::axes(std::span<const TensorType> inputs) const {
  const TensorType& x = inputs[0];
  std::vector<int> map(x.shape.size(), -1);
  Shape to(dims.begin(), dims.end());
  if (inputs.size() > 1) {
    if (!inputs[1].values) return only_first_input(std::move(map), inputs.size());
    to = *inputs[1].values;
  }
  const int rank = std::max(x.rank(), static_cast<int>(to.size()));
  for (int i = 0; i < x.rank(); ++i) {
    const int at = i + rank - x.rank();                           // in y
    const int in_to = at - (rank - static_cast<int>(to.size()));  // in the shape
    const sym::Expr want = in_to < 0 ? sym::Expr(1) : to[static_cast<size_t>(in_to)];
    if (want == sym::Expr(1) || want == x.shape[static_cast<size_t>(i)]) map[static_cast<size_t>(i)] = at;
  }
  return only_first_input(std::move(map), inputs.size());
}

}  // namespace ops
}  // namespace kiln
