/// Matrix products with what follows them: shared by the ops a region may end at.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& matrix_multiply_tactic();

}  // namespace kiln::cuda
