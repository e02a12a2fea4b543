/// Rows that nobody reads are not computed.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// A Slice that keeps some rows of a MatrixMultiply by a constant matrix, or of a Normalization along the last axis,
/// moves above it, as do those of pointwise nodes between: classifiers on one token of a transformer. Only where Slices
/// like it alone read the rows. Always right: every row is computed by itself.
Status slice_rows(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
