/// Equal nodes over equal inputs are computed once.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Always right for ops without side effects and randomness. Constants merge by content.
Status merge_common(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
