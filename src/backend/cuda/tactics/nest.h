/// Chains of pointwise ops as one pass over memory: shared by the ops a region may end at.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cuda {

/// kernels/nest.
const Tactic& nest_tactic();
/// The same for chains that read what Slices and Transposes move where it lies.
const Tactic& nest_of_views_tactic();

}  // namespace kiln::cuda
