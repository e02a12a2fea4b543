/// Transposes of transposes become one.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Transpose(Transpose(x)) becomes one Transpose, or x where the two cancel; a Transpose that only moves axes of extent
/// 1 becomes a Reshape, which costs nothing. Always right: elements only move.
Status merge_transposes(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
