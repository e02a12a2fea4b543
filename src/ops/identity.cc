#include "ops/identity.h"

#include <cstring>

#include "ops/define.h"
#include "ops/pointwise.h"

namespace kiln {
template const OpInfo& op_info<ops::Identity>();

namespace ops {

Status Identity::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  return set_pointwise_output(
      cx, x.dtype, x.shape, this,
      [](const void*, DType, std::span<const sym::Expr> at) -> std::optional<sym::Expr> { return at[0]; });
}

Status Identity::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  const auto size = static_cast<size_t>(size_bytes(x.dtype(), x.volume()));
  if (size && x.data() != y.data()) std::memmove(y.data(), x.data(), size);
  return {};
}

Scalar Identity::scalar() const { return {ScalarFn::kIdentity}; }

}  // namespace ops
}  // namespace kiln
