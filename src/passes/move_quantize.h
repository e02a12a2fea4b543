/// Quantize moves to where numbers are computed.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// A Quantize by one scale moves above what leaves numbers as they are (concatenation, maximum pooling, reshape,
/// transpose), so that a kernel writes bytes, and those are moved. A Quantize of what was dequantized by the same scale
/// goes. Dequantize moves below reshapes and transposes, towards what computes with it. Right for all numbers: rounding
/// keeps their order; a pooling of NaN is told apart no more, since a byte has none.
Status move_quantize(ir::Graph& graph, PassContext& cx);

/// The Dequantize of constant bytes moves below transposes and what adds or drops axes of one element in front,
/// whatever scales it has: weights are often turned before they are multiplied, and would be folded to floats.
Status lower_weights(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
