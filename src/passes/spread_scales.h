/// Scales get the rank of what they scale.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Scales and zero points of Quantize and Dequantize, given as one number or as a vector along an axis, become tensors
/// of x's rank that broadcast over it, which is what tactics know. Always right: the same number belongs to each
/// element.
Status spread_scales(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
