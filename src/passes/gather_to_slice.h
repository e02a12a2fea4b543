/// Gathers by constant indices at regular steps become Slices.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Gather along an axis by a constant scalar, or by constants i, i + s, i + 2s ..., becomes a Slice (and a Reshape
/// where the axis vanishes or splits), which may be a view of memory; one by all coordinates in their order, a Reshape.
/// Always right: the same elements.
Status gather_to_slice(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
