/// Deconvolutions with what follows them: shared by the ops a region may end at.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& deconvolution_tactic();

}  // namespace kiln::cuda
