/// What a loop's iterations all compute alike is computed once.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Moves nodes of a loop's body that read only captures and constants in front of the loop, and makes captures of
/// carried values that no iteration changes. Right even where there is no iteration: what moves cannot fail, and has no
/// effect but its result. Then it costs what an iteration would.
Status hoist_invariants(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
