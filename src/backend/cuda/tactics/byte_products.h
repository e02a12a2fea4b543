/// Convolutions and products of bytes, by the kernels of tensor cores that take floats too.
#pragma once

#include "backend/cuda/compile/gemm/tile.h"
#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& byte_convolution_tactic();
const Tactic& byte_product_tactic();

/// Whether kernels for the machine multiply the bytes of a contraction's operands.
bool takes_bytes(const ir::Graph& graph, ir::NodeId contraction, const Machine& machine);

}  // namespace kiln::cuda
