/// Expands before ops that broadcast by themselves go.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// An ElementWise or Select reads what an Expand repeats, where its result has the same shape without the repetition:
/// its other operands span it. Always right: broadcasting repeats the same elements.
Status drop_expands(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
