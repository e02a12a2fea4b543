/// Floats become narrow numbers.
#pragma once

#include <vector>

#include "ops/op.h"

namespace kiln::ops {

/// y = saturate(round(x / scale) + zero_point) in FP32, ties to even; NaN is 0. Of f8 and f4: the nearest value to
/// x / scale, saturated. As ONNX's QuantizeLinear has it, but for quotients of halves, which are not rounded to halves.
///   in   x           f32, f16 or bf16
///        scale       f32, f16, bf16 or e8m0, finite and positive: one number, a vector along `axis`, or of x's rank,
///        and
///                    then along each axis one element, x's extent, or one for each block of equal size
///        zero_point  `to`, an integer; scale's shape; optional
///   out  y           `to`, x's shape
struct Quantize {
  static constexpr std::string_view name = "Quantize";
  static constexpr Trait traits = Trait::kPointwise;
  static constexpr int min_inputs = 2, max_inputs = 3;
  DType to = DType::kI8;
  int axis = -1;               ///< of x, where scale is a vector; -1: not stated
  std::vector<int64_t> block;  ///< extents of x that share a scale, where there are blocks; -1: all; empty: not stated
  static void reflect(auto& self, auto f) { f("to", self.to), f("axis", self.axis), f("block", self.block); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
