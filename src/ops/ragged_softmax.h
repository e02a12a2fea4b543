/// Softmax along sequences of different lengths.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y is the softmax of the first bounds[..., 0] elements along the last axis, and 0 behind them. A bound below 1 gives
/// zeros, one beyond the axis all of it.
///   in   x       f32, f16 or bf16 [..., S], rank >= 2
///        bounds  i32 [..., 1], the other extents x's
///   out  y       x's type and shape
struct RaggedSoftmax {
  static constexpr std::string_view name = "RaggedSoftmax";
  static constexpr Trait traits = Trait::kDecomposed;
  static constexpr int min_inputs = 2, max_inputs = 2;
  static void reflect(auto&, auto) {}
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
