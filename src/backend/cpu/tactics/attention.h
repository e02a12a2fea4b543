/// Attention as exporters spell it, as one step: shared by the ops a region may end at.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cpu {

/// softmax(q k^T * scale + mask) v, with the transposes around it: kernels/attention.
const Tactic& attention_tactic();

}  // namespace kiln::cpu
