/// Scores of attention are masked by one sum.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Adds up first the terms that are added to scores on their way from a product to a softmax, so that one mask is left,
/// which layers may share: score + a + b is score + (a + b), also where a Reshape stands between. Select(seen, score,
/// hidden) is score + Select(seen, 0, hidden) where `hidden` is so low that no score matters beside it.
Status join_masks(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
