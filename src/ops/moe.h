/// A mixture of experts: of several networks, those that a token selects.
#pragma once

#include <array>
#include <limits>
#include <vector>

#include "ops/op.h"

namespace kiln {

/// nvinfer1::MoEActType.
enum class MoeActivation : int32_t { kNone, kSilu };
inline std::span<const std::string_view> enum_names(MoeActivation) {
  static constexpr std::array<std::string_view, 2> kNames = {"none", "silu"};
  return kNames;
}

/// How an expert's last product gets its input.
enum class MoeQuantization : int32_t { kNone, kStatic, kDynamic };
inline std::span<const std::string_view> enum_names(MoeQuantization) {
  static constexpr std::array<std::string_view, 3> kNames = {"none", "static", "dynamic"};
  return kNames;
}

namespace ops {

/// y[b, t] = sum over k of scores[b, t, k] * expert(x[b, t]), the expert that selected[b, t, k] says. With
/// g = min(x gate + its bias, limit) and u = x up + its bias, within [-limit, limit], an expert gives
/// (a(g) * (u + beta)) down + its bias; a(g) is g * sigmoid(alpha * g) for kSilu, g for kNone.
/// What `down` multiplies is quantized and back: by `down_scale` for kStatic; for kDynamic each `block` of inner
/// channels gets a scale of its own, as ops::DynamicQuantize makes them with `down_scale` as double scale.
///   in   x         f32, f16 or bf16 [batch, length, size]
///        selected  i32 or i64 [batch, length, k]; negative ones count from the back, others must be experts
///        scores    x's type [batch, length, k]
///        gate, up, down                 x's type [experts, size, inner], the same, [experts, inner, size]
///        gate_bias, up_bias, down_bias  x's type [experts, inner], the same, [experts, size]; all or none
///        down_scale  f32, f16 or bf16, finite and positive: one number or, for kStatic, [experts]; where quantized
///   out  y         x's type and shape
struct Moe {
  static constexpr std::string_view name = "Moe";
  static constexpr Trait traits = Trait::kDecomposed;
  static constexpr int min_inputs = 3, max_inputs = 10;
  enum Input { kX, kSelected, kScores, kGate, kUp, kDown, kGateBias, kUpBias, kDownBias, kDownScale };
  MoeActivation activation = MoeActivation::kSilu;
  double limit = std::numeric_limits<double>::infinity();  ///< of SwiGLU, as alpha and beta
  double alpha = 1, beta = 0;
  MoeQuantization quantization = MoeQuantization::kNone;
  DType quantize_to = DType::kF32;  ///< f8e4m3, for kDynamic f4e2m1 as well; f32: not quantized
  DType scale_type = DType::kF32;   ///< of the blocks' scales: f8e4m3 or e8m0
  std::vector<int64_t> block;       ///< ones, then the inner channels that share a scale
  static void reflect(auto& self, auto f) {
    f("activation", self.activation);
    f("limit", self.limit);
    f("alpha", self.alpha);
    f("beta", self.beta);
    f("quantization", self.quantization);
    f("quantize_to", self.quantize_to);
    f("scale_type", self.scale_type);
    f("block", self.block);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace ops
}  // namespace kiln
