/// Activation functions: one argument, up to two parameters.
#pragma once

#include <span>
#include <string_view>

#include "ops/op.h"

namespace kiln::ops {

/// TensorRT's activations, in its order.
enum class ActivationKind : int32_t {
  kRelu,             ///< max(x, 0)
  kSigmoid,          ///< 1 / (1 + exp(-x))
  kTanh,             ///< tanh(x)
  kLeakyRelu,        ///< x if x >= 0, else alpha * x
  kElu,              ///< x if x >= 0, else alpha * (exp(x) - 1)
  kSelu,             ///< beta * x if x > 0, else beta * (alpha * exp(x) - alpha)
  kSoftsign,         ///< x / (1 + |x|)
  kSoftplus,         ///< alpha * log(exp(beta * x) + 1)
  kClip,             ///< max(alpha, min(beta, x))
  kHardSigmoid,      ///< max(0, min(1, alpha * x + beta))
  kScaledTanh,       ///< alpha * tanh(beta * x)
  kThresholdedRelu,  ///< x if x > alpha, else 0
  kGeluErf,          ///< x / 2 * (1 + erf(x / sqrt(2)))
  kGeluTanh          ///< x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
};
std::span<const std::string_view> enum_names(ActivationKind);

/// y = f(x), the function of ActivationKind. NaN stays NaN, but kThresholdedRelu's comparison makes it 0.
///   in   x   f32, f16, bf16 or f64; kRelu also an integer
///   out  y   x's type and shape; kRelu of an integer gives symbolic values
struct Activation {
  static constexpr std::string_view name = "Activation";
  static constexpr Trait traits = Trait::kPointwise;
  ActivationKind kind = ActivationKind::kRelu;
  double alpha = 0, beta = 0;
  static void reflect(auto& self, auto f) {
    f("kind", self.kind);
    f("alpha", self.alpha);
    f("beta", self.beta);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
  Scalar scalar() const;
};

}  // namespace kiln::ops
