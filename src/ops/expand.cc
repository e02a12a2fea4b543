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

}  // namespace ops
}  // namespace kiln
