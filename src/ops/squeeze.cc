#include "ops/squeeze.h"

#include <algorithm>
#include <cstring>

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::Squeeze>();

namespace {
/// Flags of the axes of x that go.
std::vector<bool> removed_axes(const TensorType& x, const std::vector<int>& axes) {
  std::vector<bool> removed(x.shape.size(), false);
  for (const int axis : axes) removed[static_cast<size_t>(axis)] = true;
  if (axes.empty())
    for (size_t i = 0; i < removed.size(); ++i) removed[i] = x.shape[i] == sym::Expr(1);
  return removed;
}
}  // namespace

namespace ops {

Status Squeeze::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const std::vector<bool> removed = removed_axes(x, TRY(axes_of(cx, 1, axes, x.rank())));
  kiln::Shape shape;
  for (size_t i = 0; i < removed.size(); ++i) {
    if (removed[i])
      TRY(cx.assume_equal(x.shape[i], 1, str("axis ", i, " of ", x, " can be squeezed only if its extent is 1")));
    else
      shape.push_back(x.shape[i]);
  }
  return set_view_output(cx, 0, TensorType(x.dtype, std::move(shape)));
}

Status Squeeze::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  if (x.volume()) std::memcpy(y.data(), x.data(), static_cast<size_t>(size_bytes(x.dtype(), x.volume())));
  return {};
}

}  // namespace ops
}  // namespace kiln
