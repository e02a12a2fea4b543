/// Matrix products and softmax of f64 as elementwise functions and reductions.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Writes in ops that have kernels of f64 what has none: networks compute little of it, such as positions by
/// frequencies. A MatrixMultiply becomes the products of all pairs, which a nest makes, and a sum over the axis that
/// both have; an outer product, whose axis has one element, needs no sum. Products of more than 2^24 pairs, whose
/// tensor would be large, stay. A Softmax becomes its formula. Always right: the terms are the same, and added in the
/// same type.
Status split_doubles(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
