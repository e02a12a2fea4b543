/// Transposes of rows move across what works on rows, to where others undo them.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Exporters put [seq, batch, k] around products with weights that take rows in any order. A Transpose that keeps the
/// last axis moves below a MatrixMultiply by a constant matrix, and below pointwise ops whose other operand is a
/// constant row (or that quantize or dequantize by one scale), where Transposes alone read the result in the end; else
/// one below such a product moves above it where a Transpose, perhaps reshaped, makes its rows. Always right: these ops
/// treat every row alike.
Status move_transposes(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
