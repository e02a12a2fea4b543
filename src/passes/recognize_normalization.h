/// Layer and RMS normalisation spelled out become one Normalization.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon), means along the last axes, becomes Normalization, and so does
/// x / sqrt(mean(x^2) + epsilon). It takes the casts to FP32 and back that stand around it, and a constant factor and
/// summand behind it as its scale and bias: the same formula, rounded less often. In strongly typed networks that is
/// done in types narrower than FP32 only where the same is rounded: with the casts, but without factor and summand.
Status recognize_normalization(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
