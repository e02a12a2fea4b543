/// Layer normalisation spelled out becomes one Normalization.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon), means along the last axes, becomes Normalization, which takes
/// a constant factor and summand behind it as its scale and bias: the same formula, rounded less often. Not done in
/// strongly typed networks to types narrower than FP32.
Status recognize_normalization(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
