/// Transposes and reshapes in as few nodes as possible.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// hoist_slices, slice_rows, merge_transposes, sink_reshapes, move_transposes, merge_reshapes and
/// merge_around_reshapes, one after the other until none changes anything: each puts together what another can join.
Status simplify_movement(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
