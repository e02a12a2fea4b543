#include "ops/cast.h"

#include <algorithm>
#include <cmath>

#include "ops/define.h"
#include "ops/pointwise.h"
#include "sym/real.h"

namespace kiln {
template const OpInfo& op_info<ops::Cast>();

namespace ops {

namespace {
std::optional<sym::Expr> cast_value(const void* op, DType from, std::span<const sym::Expr> at) {
  const sym::Expr x = at[0];
  const DType to = static_cast<const Cast*>(op)->to;
  if (is_float(from) && is_float(to)) return x;
  if (is_float(to)) return sym::real(x);
  if (to != DType::kBool) return is_float(from) ? sym::whole(x) : x;
  if (is_float(from)) return 1 - sym::real_equal(x, 0);
  return x.min() >= 0 && x.max() <= 1 ? x : 1 - sym::equal(x, 0);
}
/// Truncated and saturated to the range of `to`; NaN is 0.
double to_range(double x, DType to) {
  if (std::isnan(x)) return 0;
  const bool is_unsigned = to == DType::kU8;
  const double limit = std::ldexp(1.0, bits_of(to) - (is_unsigned ? 0 : 1));
  if (to == DType::kI64 && x >= limit) return x;  // limit - 1 is no double; storing saturates
  return std::clamp(std::trunc(x), is_unsigned ? 0 : -limit, limit - 1);
}
}  // namespace

Status Cast::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  return set_pointwise_output(cx, to, x.shape, this, cast_value);
}

Status Cast::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  for (int64_t i = 0; i < x.volume(); ++i) {
    if (is_float(x.dtype())) {
      y.set(i, is_integer(to) ? to_range(x[i], to) : x[i]);
    } else if (to == DType::kF32) {
      y.set(i, static_cast<float>(x.integer(i)));  // through double, an int64 would round twice
    } else if (is_float(to)) {
      y.set(i, static_cast<double>(x.integer(i)));
    } else {
      y.set_integer(i, x.integer(i));
    }
  }
  return {};
}

Scalar Cast::scalar() const { return {ScalarFn::kCast}; }

}  // namespace ops
}  // namespace kiln
