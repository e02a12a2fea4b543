/// Convolutions and matrix products of bytes: shared by the ops a region may end at.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cpu {

const Tactic& byte_convolution_tactic();
const Tactic& byte_product_tactic();

/// Whether a contraction is one that they take, so that its weights stay bytes.
bool takes_bytes(const ir::Graph& graph, ir::NodeId contraction);

}  // namespace kiln::cpu
