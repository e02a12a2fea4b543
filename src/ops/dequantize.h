/// Narrow numbers become floats.
#pragma once

#include <vector>

#include "ops/op.h"

namespace kiln::ops {

/// y = (q - zero_point) * scale in FP32, as `to`. As ONNX's DequantizeLinear has it.
///   in   q           i8, u8, i32, f8e4m3, i4 or f4e2m1
///        scale       f32, f16, bf16 or e8m0, finite and positive: one number, a vector along `axis`, or of q's rank,
///        and
///                    then along each axis one element, q's extent, or one for each block of equal size
///        zero_point  q's type, an integer; scale's shape; optional
///   out  y           `to`, q's shape
struct Dequantize {
  static constexpr std::string_view name = "Dequantize";
  static constexpr Trait traits = Trait::kPointwise;
  static constexpr int min_inputs = 2, max_inputs = 3;
  DType to = DType::kF32;      ///< f32, f16 or bf16
  int axis = -1;               ///< of q, where scale is a vector; -1: not stated
  std::vector<int64_t> block;  ///< extents of q that share a scale, where there are blocks; -1: all; empty: not stated
  static void reflect(auto& self, auto f) { f("to", self.to), f("axis", self.axis), f("block", self.block); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
