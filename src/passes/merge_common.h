/// Equal nodes over equal inputs are computed once.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Always right for ops without side effects and randomness. Constants of one origin merge by their elements. Nodes
/// merge that read equal elements of different sources, which are then fixed; not so where the network is refittable.
Status merge_common(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
