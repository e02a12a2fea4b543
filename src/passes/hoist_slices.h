/// Slices move up, where less is left to do below.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Slices of a Transpose that read no element twice become Transposes of Slices, which then join what follows (a
/// Reshape that only adds and drops axes of extent 1 may stand between); a Slice of a Reshape that keeps the axis, or
/// makes it the first of several, is a Reshape of a Slice; a Slice of a Concatenation that lies within
/// one part is a Slice of that part; a Slice of a Slice along other axes is one Slice. Always right: the same elements.
Status hoist_slices(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
