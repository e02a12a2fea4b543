/// A mixture of experts: of several networks, those that a token selects.
#pragma once

#include <array>
#include <limits>

#include "ops/op.h"

namespace kiln {

/// nvinfer1::MoEActType.
enum class MoeActivation : int32_t { kNone, kSilu };
inline std::span<const std::string_view> enum_names(MoeActivation) {
  static constexpr std::array<std::string_view, 2> kNames = {"none", "silu"};
  return kNames;
}

namespace ops {

/// y[b, t] = sum over k of scores[b, t, k] * expert(x[b, t]), the expert that selected[b, t, k] says. With
/// g = min(x gate + its bias, limit) and u = x up + its bias, within [-limit, limit], an expert gives
/// (a(g) * (u + beta)) down + its bias; a(g) is g * sigmoid(alpha * g) for kSilu, g for kNone.
///   in   x         f32, f16 or bf16 [batch, length, size]
///        selected  i32 or i64 [batch, length, k]; negative ones count from the back, others must be experts
///        scores    x's type [batch, length, k]
///        gate, up, down                 x's type [experts, size, inner], the same, [experts, inner, size]
///        gate_bias, up_bias, down_bias  x's type [experts, inner], the same, [experts, size]; all or none
///   out  y         x's type and shape
struct Moe {
  static constexpr std::string_view name = "Moe";
  static constexpr Trait traits = Trait::kDecomposed;
  static constexpr int min_inputs = 3, max_inputs = 9;
  enum Input { kX, kSelected, kScores, kGate, kUp, kDown, kGateBias, kUpBias, kDownBias };
  MoeActivation activation = MoeActivation::kSilu;
  double limit = std::numeric_limits<double>::infinity();  ///< of SwiGLU, as alpha and beta
  double alpha = 1, beta = 0;
  static void reflect(auto& self, auto f) {
    f("activation", self.activation);
    f("limit", self.limit);
    f("alpha", self.alpha);
    f("beta", self.beta);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace ops
}  // namespace kiln
