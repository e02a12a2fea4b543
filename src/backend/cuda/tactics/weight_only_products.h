/// Matrix products by quantized weights: shared by the ops a region may end at.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& weight_only_tactic();

}  // namespace kiln::cuda
