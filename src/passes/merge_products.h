/// Products of one tensor with several weights become one product.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// MatrixMultiplies of the same x with constant matrices, each perhaps with a bias behind it, become one product with
/// the matrices side by side, and Slices of it: the projections of attention, where products of two variables read the
/// parts, moved and scaled at most, and so where they are; or where pointwise ops and Concatenations read their heads,
/// of which kernels read parts of a tensor, too. Always right: the sums are the same, and x is read once.
Status merge_products(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
