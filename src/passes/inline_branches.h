/// Branches that are always taken.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Puts the branch of an If whose condition is known in the node's place.
Status inline_branches(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
