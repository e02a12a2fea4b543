/// Weights that a kernel may keep in a half type: less memory to read, where a product has few rows for each of them.
#pragma once

#include <vector>

#include "tactics/tactic.h"

namespace kiln::cpu {

/// Whether the network, and the precision of the layers that read them, allow weights to be rounded to a half type.
bool may_round(const TacticContext& cx, ir::ValueId weights, DType half);
/// The half types that constant FP32 weights may be packed in: those that the network allows and that hold every
/// element finitely, and those that hold every element exactly, as they do where the network's own weights are halves.
std::vector<DType> half_types(const TacticContext& cx, ir::ValueId weights);

}  // namespace kiln::cpu
