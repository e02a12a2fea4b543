#include "ops/activation.h"

#include "ops/activation-inl.h"
#include "ops/define.h"
#include "ops/pointwise.h"
#include "ops/with_scalar_fn.h"
#include "sym/real.h"

namespace kiln {
template const OpInfo& op_info<ops::Activation>();

namespace ops {

std::span<const std::string_view> enum_names(ActivationKind) {
  static constexpr std::string_view kNames[] = {
      "relu", "sigmoid",      "tanh",        "leaky_relu",       "elu",      "selu",     "softsign", "softplus",
      "clip", "hard_sigmoid", "scaled_tanh", "thresholded_relu", "gelu_erf", "gelu_tanh"};
  return kNames;
}

namespace {
/// The functions that shape arithmetic may have; none of those with exponentials.
std::optional<sym::Expr> combine_reals(const Activation& op, sym::Expr x) {
  const auto number = [](double value) { return sym::real_of(value); };
  const auto line = [&] { return sym::real_sum(sym::real_prod(number(op.alpha), x), number(op.beta)); };
  switch (op.kind) {
    case ActivationKind::kRelu: return sym::real_max(x, 0);
    case ActivationKind::kLeakyRelu:
      return sym::real_choice(sym::real_less(x, 0), sym::real_prod(number(op.alpha), x), x);
    case ActivationKind::kClip: return sym::real_max(number(op.alpha), sym::real_min(number(op.beta), x));
    case ActivationKind::kHardSigmoid: return sym::real_max(0, sym::real_min(number(1), line()));
    case ActivationKind::kThresholdedRelu: return sym::real_choice(sym::real_less(number(op.alpha), x), x, 0);
    default: return std::nullopt;
  }
}
}  // namespace

Status Activation::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const bool takes_integers = kind == ActivationKind::kRelu;
  TRY(cx.require(is_compute_float(x.dtype) || (takes_integers && is_compute_integer(x.dtype)), "x is ", x,
                 "; Activation ", kind, " takes f32, f16 or bf16", takes_integers ? ", or an integer" : ""));
  return set_pointwise_output(
      cx, x.dtype, x.shape, this,
      [](const void* op, DType dtype, std::span<const sym::Expr> at) -> std::optional<sym::Expr> {
        if (is_float(dtype)) return combine_reals(*static_cast<const Activation*>(op), at[0]);
        return sym::max(at[0], 0);  // only relu takes integers
      });
}

Status Activation::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  if (is_integer(x.dtype())) {
    for (int64_t i = 0; i < x.volume(); ++i) y.set_integer(i, std::max<int64_t>(x.integer(i), 0));
    return {};
  }
  with_scalar_fn<ScalarFn::kRelu, ScalarFn::kGeluTanh>(scalar().fn, [&]<ScalarFn kFn>() {
    for (int64_t i = 0; i < x.volume(); ++i) y.set(i, HWY_NAMESPACE::activation<kFn>(x[i], alpha, beta));
  });
  return {};
}

Scalar Activation::scalar() const {
  return {static_cast<ScalarFn>(static_cast<int>(ScalarFn::kRelu) + static_cast<int>(kind)), alpha, beta};
}

}  // namespace ops
}  // namespace kiln
