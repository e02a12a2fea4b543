/// Rotary position embedding: pairs of channels turned by angles of their position.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// With D the rotated channels and i < D / 2: the pair (a, b) is (x[2 i], x[2 i + 1]) where `interleaved`, else
/// (x[i], x[i + D / 2]). It becomes (a cos_i - b sin_i, a sin_i + b cos_i); channels from D on stay.
///   in   x          f32, f16 or bf16 [batch, heads, length, size]; size is a constant
///        cos, sin   x's type: [batch, length, D / 2], or with positions [positions, D / 2]
///        positions  i32 or i64 [batch, length]; optional: the rows of cos and sin
///   out  y          x's type and shape
struct RotaryEmbedding {
  static constexpr std::string_view name = "RotaryEmbedding";
  static constexpr Trait traits = Trait::kDecomposed;
  static constexpr int min_inputs = 3, max_inputs = 4;
  bool interleaved = false;
  int dim = 0;  ///< D, even; 0: all channels
  static void reflect(auto& self, auto f) {
    f("interleaved", self.interleaved);
    f("dim", self.dim);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
