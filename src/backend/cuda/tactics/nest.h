/// Chains of pointwise ops as one pass over memory: shared by the ops a region may end at.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cuda {

/// kernels/nest.
const Tactic& nest_tactic();

}  // namespace kiln::cuda
