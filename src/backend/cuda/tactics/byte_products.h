/// Convolutions and products of bytes, by the kernels of tensor cores that take floats too.
#pragma once

#include "backend/cuda/compile/gemm/tile.h"
#include "steps/quantized_matrix_multiply.h"
#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& byte_convolution_tactic();
const Tactic& byte_product_tactic();

/// The region of a matrix product of bytes that ends at a node, as byte_product_tactic takes it.
Match match_product_of_bytes(const TacticContext& cx, ir::NodeId root);
/// Its step.
Result<steps::QuantizedMatrixMultiply> step_of_product_of_bytes(const TacticContext& cx, const Region& region);

/// Whether kernels for the machine multiply the bytes of a contraction's operands.
bool takes_bytes(const ir::Graph& graph, ir::NodeId contraction, const Machine& machine);

}  // namespace kiln::cuda
