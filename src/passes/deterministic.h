/// Nodes that give the same results again.
#pragma once

#include "ops/op.h"

namespace kiln::passes {

/// Whether equal inputs give equal outputs: every op but random Fills. Only such nodes are folded or merged.
bool is_deterministic(const Op& op);

}  // namespace kiln::passes
