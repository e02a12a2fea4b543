// The activations of a recurrence's gates, for numbers and for vectors.
#if defined(KILN_OPS_RECURRENCE_INL_H_) == defined(HWY_TARGET_TOGGLE)  // once for each instruction set
#ifdef KILN_OPS_RECURRENCE_INL_H_
#undef KILN_OPS_RECURRENCE_INL_H_
#else
#define KILN_OPS_RECURRENCE_INL_H_
#endif

#include "ops/activation-inl.h"
#include "ops/gate_function.h"

HWY_BEFORE_NAMESPACE();
namespace kiln {
namespace HWY_NAMESPACE {

template <class V>
HWY_INLINE V gate_activation(ops::GateFunction function, V x, V alpha, V beta) {
  using enum ScalarFn;
  using ops::GateFunction;
  switch (function) {
    case GateFunction::kSigmoid: return activation<kSigmoid>(x, alpha, beta);
    case GateFunction::kTanh: return activation<kTanh>(x, alpha, beta);
    case GateFunction::kRelu: return activation<kRelu>(x, alpha, beta);
    case GateFunction::kLeakyRelu: return activation<kLeakyRelu>(x, alpha, beta);
    case GateFunction::kElu: return activation<kElu>(x, alpha, beta);
    case GateFunction::kSoftsign: return activation<kSoftsign>(x, alpha, beta);
    case GateFunction::kSoftplus: return softplus(x);
    case GateFunction::kHardSigmoid: return activation<kHardSigmoid>(x, alpha, beta);
    case GateFunction::kScaledTanh: return activation<kScaledTanh>(x, alpha, beta);
    case GateFunction::kThresholdedRelu: return activation<kThresholdedRelu>(x, alpha, beta);
    case GateFunction::kAffine: break;
  }
  return alpha * x + beta;
}

}  // namespace HWY_NAMESPACE
}  // namespace kiln
HWY_AFTER_NAMESPACE();

#endif
