/// Fused attention: shared by the ops a region may end at.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& attention_tactic();

}  // namespace kiln::cuda
