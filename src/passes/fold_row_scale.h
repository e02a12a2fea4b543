/// Factors of what products by constants read move into the constants.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// rms(x) * scale, of rows, read by products with constant matrices b alone, becomes rms(x), and each b diag(scale) *
/// b: the norm may then be part of a product's kernel. Right up to rounding, so not done to weights in less than FP32,
/// nor where others read a b, too: it would be there twice.
Status fold_row_scale(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
