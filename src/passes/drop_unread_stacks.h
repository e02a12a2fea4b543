/// Loops stack nothing that nobody reads.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Takes stacked outputs without a reader from loops, and from their bodies. An output stays where an expression of the
/// graph reads one of its extents, and where its slices are tapped.
Status drop_unread_stacks(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
