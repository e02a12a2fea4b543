/// Softmax of f64, and matrix products of f64, i32 and i64, as elementwise functions and reductions.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Writes in ops that have kernels what has none in FP64 or in integers. A product whose inner axis has one element
/// becomes elementwise and joins its neighbours. Another one becomes the products of all pairs, which a nest makes, and
/// a sum over the inner axis, unless the backend has kernels for it (`PassContext::multiplies_in_kind`) or the pairs,
/// which are a tensor in memory, may be more than 2^24: the reference is slower, but needs no such memory. A Softmax
/// of f64 becomes its formula. Always right: the terms are the same, and added in the same type.
Status split_doubles(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
