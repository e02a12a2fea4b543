/// GELU spelled out becomes one Activation.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// x/2 (1 + erf(x / sqrt 2)) and x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), in the orders that exporters write
/// them, become Activation kGeluErf and kGeluTanh: the same formulas, computed without rounding in between. Not done in
/// strongly typed networks to types narrower than FP32, whose rounding is part of their meaning.
Status recognize_gelu(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
