/// A Dequantize for each reader.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Where several nodes read what a Dequantize makes of data, each that computes with it (a pointwise op, a contraction)
/// gets a copy of its own, so that each reader's region may read the bytes. Always right: it is the same number.
Status copy_dequantize(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
