/// Reshapes in their simplest form.
#pragma once

#include "ir/patch.h"

namespace kiln::passes {

/// x under `shape`, which has as many elements: x itself, a Reshape by attributes where at most one extent is symbolic
/// (it becomes -1), else by DimValues.
Result<ir::ValueId> reshape_to(ir::Patch& patch, ir::ValueId x, const Shape& shape);

}  // namespace kiln::passes
