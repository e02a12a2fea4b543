/// Squeeze and excitation as one step.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& squeeze_excite_tactic();

}  // namespace kiln::cuda
