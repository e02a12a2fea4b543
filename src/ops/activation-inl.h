// The expressions of Activation, for numbers and for vectors (scalar-inl.h names what they call).
#if defined(KILN_OPS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)  // once for each instruction set
#ifdef KILN_OPS_ACTIVATION_INL_H_
#undef KILN_OPS_ACTIVATION_INL_H_
#else
#define KILN_OPS_ACTIVATION_INL_H_
#endif

#include "ops/scalar-inl.h"
#include "ops/scalar.h"

HWY_BEFORE_NAMESPACE();
namespace kiln {
namespace HWY_NAMESPACE {

/// Of exp(-|x|) only, so that nothing overflows and small results keep their digits.
template <class V>
HWY_INLINE V sigmoid(V x) {
  const V e = exp(-abs(x));
  return select(x < V(0), e, V(1)) / (V(1) + e);
}
/// log(1 + exp(x))
template <class V>
HWY_INLINE V softplus(V x) {
  return at_least(x, V(0)) + log1p_unit(exp(-abs(x)));
}
template <class V>
HWY_INLINE V gelu_erf(V x) {
  return V(0.5) * x * (V(1) + erf(x * V(0.70710678118654752440)));
}
/// (1 + tanh(u)) / 2 is sigmoid(2 u), which keeps its digits where tanh nears -1.
template <class V>
HWY_INLINE V gelu_tanh(V x) {
  constexpr double kTwiceRootOfTwoOverPi = 1.5957691216057307117;
  return x * sigmoid(V(kTwiceRootOfTwoOverPi) * x * (V(1) + V(0.044715) * x * x));
}

/// Function kFn of an activation.
template <ScalarFn kFn, class V>
HWY_INLINE V activation(V x, [[maybe_unused]] V alpha, [[maybe_unused]] V beta) {
  using enum ScalarFn;
  if constexpr (kFn == kRelu) return at_least(x, V(0));
  if constexpr (kFn == kSigmoid) return sigmoid(x);
  if constexpr (kFn == kTanh) return tanh(x);
  if constexpr (kFn == kLeakyRelu) return select(x < V(0), alpha * x, x);
  if constexpr (kFn == kElu) return select(x < V(0), alpha * expm1(x), x);
  if constexpr (kFn == kSelu) return beta * select(x < V(0), alpha * expm1(x), x);
  if constexpr (kFn == kSoftsign) return x / (V(1) + abs(x));
  if constexpr (kFn == kSoftplus) return alpha * softplus(beta * x);
  if constexpr (kFn == kClip) return at_least(at_most(x, beta), alpha);
  if constexpr (kFn == kHardSigmoid) return at_least(at_most(alpha * x + beta, V(1)), V(0));
  if constexpr (kFn == kScaledTanh) return alpha * tanh(beta * x);
  if constexpr (kFn == kThresholdedRelu) return select(alpha < x, x, V(0));
  if constexpr (kFn == kGeluErf) return gelu_erf(x);
  if constexpr (kFn == kGeluTanh) return gelu_tanh(x);
}

}  // namespace HWY_NAMESPACE
}  // namespace kiln
HWY_AFTER_NAMESPACE();

#endif
