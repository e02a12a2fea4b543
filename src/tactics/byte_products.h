/// Convolutions and matrix products whose operands are dequantized: they multiply the bytes themselves.
#pragma once

#include "steps/byte_operands.h"
#include "tactics/hook.h"

namespace kiln {

/// A contraction that multiplies bytes, and what makes numbers of them.
struct ByteProduct {
  ir::NodeId contraction, x, w;  ///< x and w: nodes of Dequantize
};
/// What kernels of a backend take besides.
struct ByteRules {
  bool halves = false;  ///< numbers and scales of f16 and bf16
  bool fp8 = false;     ///< x and w of FP8
  bool tables = false;  ///< what makes bytes of one tensor of bytes is better apart, where it is looked up
};
/// What steps of bytes take: a convolution without groups or depthwise, or a product by one matrix, of x (i8 or u8, one
/// scale) and constant w (i8 without zero points, one scale or one a channel), with FP32 scales.
std::expected<ByteProduct, Reject> find_byte_product(const ir::Graph& graph, ir::NodeId contraction,
                                                     const ByteRules& rules = {});

/// The region of a contraction of bytes for which `is_contraction` holds, with what follows it as a float one has it
/// (hook.h), and a Quantize to bytes at its end if `root` is one. Its inputs: x, w, bias, residual, what the hook
/// reads, and those of steps/byte_operands.h. `data` is {epilogue}.
Match match_byte_product(const TacticContext& cx, ir::NodeId root, bool (*is_contraction)(const Op&), int channel_axis,
                         ResultOrder order, const ByteRules& rules = {});

/// The contraction of such a region.
const Op& contraction_of_bytes(const TacticContext& cx, const Region& region);

}  // namespace kiln
