#include "ops/non_zero.h"

#include "ops/define.h"
#include "ops/movement.h"

template const kiln::OpInfo& kiln::op_info<kiln::ops::NonZero>();

namespace kiln::ops {

Status NonZero::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  TRY(cx.require(is_index(indices), "indices would be ", indices, "; i32 or i64 needed"));
  const sym::Expr n = cx.decided_size("count", sym::product(x.shape));
  return cx.set_output(0, {indices, {x.rank(), n}});
}

Status NonZero::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  std::vector<int64_t> found;
  for (int64_t i = 0; i < x.volume(); ++i)
    if (x[i] != 0) found.push_back(i);
  const int64_t n = std::ssize(found);
  cx.set_size(0, n);
  const MutableView y = TRY(cx.output(0, Extents{x.rank(), n}));
  const Extents strides = row_major_strides(x.extents());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t a = 0; a < x.rank(); ++a) {
      const auto axis = static_cast<size_t>(a);
      y.set_integer(a * n + i, found[static_cast<size_t>(i)] / strides[axis] % x.extents()[axis]);
    }
  return {};
}

}  // namespace kiln::ops
