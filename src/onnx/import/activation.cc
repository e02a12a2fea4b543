#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

/// An activation whose parameters are attributes; an empty name is a parameter that ONNX fixes.
struct Parameter {
  std::string_view attribute;
  float value = 0;
};
Status simple(ImportContext& cx, ActivationKind kind, Parameter alpha = {}, Parameter beta = {}) {
  const auto get = [&](const Parameter& p) -> Result<float> {
    if (p.attribute.empty()) return p.value;
    return cx.node().get_float(p.attribute, p.value);
  };
  const float a = TRY(get(alpha)), b = TRY(get(beta));
  return cx.output(TRY(activation(cx, kind, TRY(cx.input(0)), a, b)));
}

/// The Swish of input 0.
Result<ValueId> swish_of_input(ImportContext& cx) {
  return onnx::swish(cx, TRY(cx.input(0)), TRY(cx.node().get_float("alpha", 1)));
}

/// A bound of Clip: an attribute before version 11, then a scalar input. kNone where there is none.
Result<ValueId> bound(ImportContext& cx, ValueId x, size_t input, std::string_view attribute) {
  if (cx.opset() >= 11) return cx.optional_input(input);
  if (!cx.node().find(attribute)) return ValueId::kNone;
  return scalar_like(cx, TRY(cx.node().get_float(attribute, 0)), x);
}

}  // namespace

Status relu(ImportContext& cx) { return simple(cx, ActivationKind::kRelu); }
Status sigmoid(ImportContext& cx) { return simple(cx, ActivationKind::kSigmoid); }
Status tanh(ImportContext& cx) { return simple(cx, ActivationKind::kTanh); }
Status leaky_relu(ImportContext& cx) { return simple(cx, ActivationKind::kLeakyRelu, {"alpha", 0.01f}); }
Status elu(ImportContext& cx) { return simple(cx, ActivationKind::kElu, {"alpha", 1}); }
Status selu(ImportContext& cx) {
  return simple(cx, ActivationKind::kSelu, {"alpha", 1.67326319217681884765625f},
                {"gamma", 1.05070102214813232421875f});
}
Status softsign(ImportContext& cx) { return simple(cx, ActivationKind::kSoftsign); }
Status softplus(ImportContext& cx) { return simple(cx, ActivationKind::kSoftplus, {"", 1}, {"", 1}); }
Status hard_sigmoid(ImportContext& cx) {
  return simple(cx, ActivationKind::kHardSigmoid, {"alpha", 0.2f}, {"beta", 0.5f});
}
Status thresholded_relu(ImportContext& cx) { return simple(cx, ActivationKind::kThresholdedRelu, {"alpha", 1}); }

/// alpha * elu(x / alpha): the exponential's slope at 0 is 1 again.
Status celu(ImportContext& cx) {
  const float alpha = TRY(cx.node().get_float("alpha", 1));
  const ValueId x = TRY(cx.input(0));
  if (alpha == 1) return cx.output(TRY(activation(cx, ActivationKind::kElu, x, 1)));
  // Positive elements pass as they are: x / alpha may be more than the type holds.
  const ValueId inner = TRY(binary(cx, ElementWiseKind::kDiv, TRY(binary(cx, ElementWiseKind::kMin, x, 0)), alpha));
  const ValueId below =
      TRY(binary(cx, ElementWiseKind::kProd, TRY(activation(cx, ActivationKind::kElu, inner, 1)), alpha));
  return cx.output(TRY(binary(cx, ElementWiseKind::kSum, TRY(activation(cx, ActivationKind::kRelu, x)), below)));
}

Status gelu(ImportContext& cx) {
  const std::string_view approximate = TRY(cx.node().get_string("approximate", "none"));
  TRY(require(approximate == "none" || approximate == "tanh", "approximate is '", approximate,
              "'; 'none' or 'tanh' is needed"));
  return simple(cx, approximate == "none" ? ActivationKind::kGeluErf : ActivationKind::kGeluTanh);
}

Status hard_swish(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const ValueId gate = TRY(activation(cx, ActivationKind::kHardSigmoid, x, 1.0f / 6.0f, 0.5));
  return cx.output(TRY(binary(cx, ElementWiseKind::kProd, x, gate)));
}

Status mish(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const ValueId soft = TRY(activation(cx, ActivationKind::kSoftplus, x, 1, 1));
  const ValueId gate = TRY(activation(cx, ActivationKind::kTanh, soft));
  return cx.output(TRY(binary(cx, ElementWiseKind::kProd, x, gate)));
}

Status swish(ImportContext& cx) { return cx.output(TRY(swish_of_input(cx))); }
Status swi_glu(ImportContext& cx) {
  const ValueId gate = TRY(swish_of_input(cx));
  return cx.output(TRY(binary(cx, ElementWiseKind::kProd, gate, TRY(cx.input(1)))));
}

Status prelu(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const ValueId slope = TRY(with_rank(cx, TRY(cx.input(1)), cx.rank(x)));
  const ValueId scaled = TRY(binary(cx, ElementWiseKind::kProd, x, slope));
  const ValueId below = TRY(binary(cx, ElementWiseKind::kLess, x, 0));
  return cx.output(TRY(select(cx, below, scaled, x)));
}

/// x + bias below -lambd, x - bias above lambd, 0 between.
Status shrink(ImportContext& cx) {
  const float bias = TRY(cx.node().get_float("bias", 0)), lambd = TRY(cx.node().get_float("lambd", 0.5f));
  const ValueId x = TRY(cx.input(0));
  const ValueId below = TRY(binary(cx, ElementWiseKind::kLess, x, -lambd));
  const ValueId above = TRY(binary(cx, ElementWiseKind::kGreater, x, lambd));
  const ValueId raised = TRY(binary(cx, ElementWiseKind::kSum, x, bias));
  const ValueId lowered = TRY(binary(cx, ElementWiseKind::kSub, x, bias));
  const ValueId rest = TRY(select(cx, above, lowered, scalar_like(cx, 0, x)));
  return cx.output(TRY(select(cx, below, raised, rest)));
}

Status clip(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const ValueId low = TRY(bound(cx, x, 1, "min")), high = TRY(bound(cx, x, 2, "max"));
  const bool both = low != ValueId::kNone && high != ValueId::kNone && cx.is_constant(low) && cx.is_constant(high);
  if (both && is_float(cx.dtype(x))) {
    const double from = TRY(cx.number(low, "min")), to = TRY(cx.number(high, "max"));
    // ONNX lets the upper one of bounds in the wrong order win, kClip the lower one.
    if (from <= to) return cx.output(TRY(activation(cx, ActivationKind::kClip, x, from, to)));
  }
  ValueId y = x;
  if (low != ValueId::kNone) y = TRY(binary(cx, ElementWiseKind::kMax, y, low));
  if (high != ValueId::kNone) y = TRY(binary(cx, ElementWiseKind::kMin, y, high));
  return cx.output(y);
}

}  // namespace kiln::onnx::importers
