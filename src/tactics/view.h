/// Ops that only look at their input under another shape: they cost nothing, on any backend.
#pragma once

#include "tactics/tactic.h"

namespace kiln {

/// Reshape, Squeeze, Unsqueeze and Identity of a row-major tensor: the output is the input's memory.
const Tactic& view_tactic();

}  // namespace kiln
