/// Floats become narrow numbers by scales that are computed from them.
#pragma once

#include <vector>

#include "ops/op.h"

namespace kiln::ops {

/// Each block of x gets the scale with which its largest number becomes the largest of type `to` (6 of f4e2m1, 448 of
/// f8e4m3, 127 of i8):
///   scale = max|x| / largest / double_scale, as `scale_type`: f8e4m3 the nearest, saturated; e8m0 the next power of
///   two
///           that is not less
///   y     = x / (scale * double_scale) as Quantize rounds and saturates; 0 where that scale is 0
///   in   x             f32, f16 or bf16, rank >= 1
///        double_scale  f32, f16 or bf16, one number, finite and positive; optional: 1
///   out  y             `to`, x's shape
///        scale         `scale_type`; along each axis as many elements as x has blocks
/// A block has one element along an axis, all of them, or a number that divides the axis, whose extent is constant
/// then. NaN is in no maximum; a block that has infinity has scales of infinity, or the largest of `scale_type`.
struct DynamicQuantize {
  static constexpr std::string_view name = "DynamicQuantize";
  static constexpr int min_inputs = 1, max_inputs = 2;
  DType to = DType::kF4E2M1;
  DType scale_type = DType::kF8E4M3;
  int axis = -1;               ///< of x, cut into blocks where `block` is empty
  int64_t block_size = 0;      ///< along `axis`, where `block` is empty
  std::vector<int64_t> block;  ///< extents of a block; -1: the axis has one block
  static void reflect(auto& self, auto f) {
    f("to", self.to);
    f("scale_type", self.scale_type);
    f("axis", self.axis);
    f("block_size", self.block_size);
    f("block", self.block);
  }
  int num_outputs() const { return 2; }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops

namespace kiln {

/// The scale that DynamicQuantize makes for a block whose largest magnitude is `most`, as `scale_type` holds it.
float block_scale(const ops::DynamicQuantize& op, float most, float double_scale);
/// An element of a block as DynamicQuantize makes it; `scale` is the block's times the double scale. Storing it rounds.
float quantized_by_block(DType to, float x, float scale);

}  // namespace kiln
