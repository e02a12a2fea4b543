// The expressions of ElementWise, for numbers and for vectors (scalar-inl.h names what they call).
#if defined(KILN_OPS_ELEMENT_WISE_INL_H_) == defined(HWY_TARGET_TOGGLE)  // once for each instruction set
#ifdef KILN_OPS_ELEMENT_WISE_INL_H_
#undef KILN_OPS_ELEMENT_WISE_INL_H_
#else
#define KILN_OPS_ELEMENT_WISE_INL_H_
#endif

#include "ops/scalar-inl.h"
#include "ops/scalar.h"

HWY_BEFORE_NAMESPACE();
namespace kiln {
namespace HWY_NAMESPACE {

/// Function kFn of an elementwise op; a V, or what comparisons of V give. kAnd, kOr, kXor take truth values.
template <ScalarFn kFn, class V>
HWY_INLINE auto element_wise(V a, V b) {
  using enum ScalarFn;
  if constexpr (kFn == kSum) return a + b;
  if constexpr (kFn == kProd) return a * b;
  if constexpr (kFn == kMax) return max(a, b);
  if constexpr (kFn == kMin) return min(a, b);
  if constexpr (kFn == kSub) return a - b;
  if constexpr (kFn == kDiv) return a / b;
  if constexpr (kFn == kPow) return pow(a, b);
  if constexpr (kFn == kFloorDiv) return floor_div(a, b);
  if constexpr (kFn == kAnd) return a && b;
  if constexpr (kFn == kOr) return a || b;
  if constexpr (kFn == kXor) return a != b;
  if constexpr (kFn == kEqual) return a == b;
  if constexpr (kFn == kGreater) return b < a;
  if constexpr (kFn == kLess) return a < b;
  if constexpr (kFn == kMod) return mod(a, b);
}

}  // namespace HWY_NAMESPACE
}  // namespace kiln
HWY_AFTER_NAMESPACE();

#endif
