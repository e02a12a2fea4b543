/// Reshapes that flatten rows move below what works on rows, and meet the Reshapes that undo them.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Exporters flatten [batch, seq, k] to [batch * seq, k] around a product with weights. Such a Reshape, which keeps the
/// last axis, moves below a MatrixMultiply by a constant, and below pointwise ops whose other operands are constants
/// that span at most the last axis, where Reshapes alone read the result in the end. Always right: these ops treat
/// every row alike.
Status sink_reshapes(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
