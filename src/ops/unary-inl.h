// The expressions of Unary, for numbers and for vectors (scalar-inl.h names what they call).
#if defined(KILN_OPS_UNARY_INL_H_) == defined(HWY_TARGET_TOGGLE)  // once for each instruction set
#ifdef KILN_OPS_UNARY_INL_H_
#undef KILN_OPS_UNARY_INL_H_
#else
#define KILN_OPS_UNARY_INL_H_
#endif

#include "ops/scalar-inl.h"
#include "ops/scalar.h"

HWY_BEFORE_NAMESPACE();
namespace kiln {
namespace HWY_NAMESPACE {

/// 0 of either sign gives 0; NaN stays NaN.
template <class V>
HWY_INLINE V sign(V x) {
  return select(V(0) < x, V(1), select(x < V(0), V(-1), select(x == V(0), V(0), x)));
}

/// Function kFn of a unary op; a V, or what comparisons of V give for kIsInf and kIsNan.
template <ScalarFn kFn, class V>
HWY_INLINE auto unary(V x) {
  using enum ScalarFn;
  if constexpr (kFn == kExp) return exp(x);
  if constexpr (kFn == kLog) return log(x);
  if constexpr (kFn == kSqrt) return sqrt(x);
  if constexpr (kFn == kRecip) return V(1) / x;
  if constexpr (kFn == kAbs) return abs(x);
  if constexpr (kFn == kNeg) return -x;
  if constexpr (kFn == kSin) return sin(x);
  if constexpr (kFn == kCos) return cos(x);
  if constexpr (kFn == kTan) return tan(x);
  if constexpr (kFn == kSinh) return sinh(x);
  if constexpr (kFn == kCosh) return cosh(x);
  if constexpr (kFn == kAsin) return asin(x);
  if constexpr (kFn == kAcos) return acos(x);
  if constexpr (kFn == kAtan) return atan(x);
  if constexpr (kFn == kAsinh) return asinh(x);
  if constexpr (kFn == kAcosh) return acosh(x);
  if constexpr (kFn == kAtanh) return atanh(x);
  if constexpr (kFn == kCeil) return ceil(x);
  if constexpr (kFn == kFloor) return floor(x);
  if constexpr (kFn == kErf) return erf(x);
  if constexpr (kFn == kNot) return !x;
  if constexpr (kFn == kSign) return sign(x);
  if constexpr (kFn == kRound) return round_even(x);
  if constexpr (kFn == kIsInf) return is_inf(x);
  if constexpr (kFn == kIsNan) return is_nan(x);
}

}  // namespace HWY_NAMESPACE
}  // namespace kiln
HWY_AFTER_NAMESPACE();

#endif
