/// Reshapes of reshapes become one.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// A chain of Reshape, Squeeze and Unsqueeze becomes one Reshape to the last shape, or nothing where that is the first;
/// Squeeze and Unsqueeze alone become a Reshape too, so that one form is left; an Expand that adds or keeps axes of
/// extent 1 only, likewise. Always right: the order of elements in memory stays.
Status merge_reshapes(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
