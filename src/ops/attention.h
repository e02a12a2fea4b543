/// Attention as one layer of the API.
#pragma once

#include <array>

#include "ops/op.h"

namespace kiln {

/// nvinfer1::AttentionNormalizationOp.
enum class AttentionNormalization : int32_t { kNone, kSoftmax };
inline std::span<const std::string_view> enum_names(AttentionNormalization) {
  static constexpr std::array<std::string_view, 2> kNames = {"none", "softmax"};
  return kNames;
}

namespace ops {

/// y = normalized(q k^T) v; scores are not scaled. A boolean mask says which keys a query sees, any other is added to
/// the scores; `causal`: query i sees the keys 0 to i. Scores that are not seen count as minus infinity in a softmax,
/// as 0 without a normalization. A softmax of a query that sees nothing is NaN. Where `quantize_to` is not f32, what
/// the second product reads is quantized to that type by `scale` and back.
///   in   q     f32, f16 or bf16 [batch, heads, queries, size]
///        k, v  q's type [batch, key heads, keys, size]; heads are a multiple of key heads, neighbours share one
///        mask  bool or q's type, broadcast to [batch, heads, queries, keys]; optional, not with `causal`
///        scale f32, f16 or bf16, one number, finite and positive; there where `quantize_to` is not f32
///   out  y     q's type [batch, heads, queries, v's size]
struct Attention {
  static constexpr std::string_view name = "Attention";
  static constexpr Trait traits = Trait::kDecomposed;
  static constexpr int min_inputs = 3, max_inputs = 5;
  enum Input { kQ, kK, kV, kMask, kScale };
  int group = 0;  ///< the IAttention of the network that it belongs to
  AttentionNormalization normalization = AttentionNormalization::kSoftmax;
  bool causal = false;
  bool decomposable = false;  ///< as the program said; several kernels run it where no fused one takes it, either way
  DType quantize_to = DType::kF32;  ///< of normalized scores: f8e4m3 or i8; f32: they are not quantized
  static void reflect(auto& self, auto f) {
    f("group", self.group);
    f("normalization", self.normalization);
    f("causal", self.causal);
    f("decomposable", self.decomposable);
    f("quantize_to", self.quantize_to);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace ops
}  // namespace kiln
