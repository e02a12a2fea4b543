/// Ops that only look at their input under another shape: they cost nothing.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cpu {

/// Reshape, Squeeze and Unsqueeze of a row-major tensor: the output is the input's memory.
const Tactic& view_tactic();

}  // namespace kiln::cpu
