/// Arithmetic with constants in its cheapest form.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// x / c becomes x * (1/c) where every element of c is a power of two, and x - c x + (-c) (of floats); pow(x, 2)
/// becomes x * x, pow(x, 1) and x * 1 and x - 0 become x, and pow(x, 0.5) becomes sqrt(x) where x cannot be negative.
/// Exact, all of them.
Status simplify_arithmetic(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
