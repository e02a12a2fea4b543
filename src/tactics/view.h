/// Ops that only look at their input under another shape or type: they cost nothing, on any backend.
#pragma once

#include "tactics/tactic_list.h"

namespace kiln {

/// For BitCast, Identity, Reshape, Squeeze and Unsqueeze of a row-major tensor: the output is the input's memory.
TacticList view_tactics();

}  // namespace kiln
