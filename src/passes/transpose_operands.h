/// Transposed operands of matrix products are read transposed instead.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// A MatrixMultiply of a Transpose that makes memory's innermost axis the second last reads it as kTranspose, and what
/// is left of the Transpose keeps that axis innermost; where it only swaps the last two axes it vanishes. A product or
/// quotient by one number between the two moves above the Transpose, and a Reshape of leading axes may stand between.
/// Always right: the products are the same.
Status transpose_operands(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
