/// Nodes whose inputs are all constants become constants.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Always right: `reference` is an op's meaning. Folds that would make a constant larger than its inputs by more than
/// the context's budget are left for run time; so are side effects and random numbers.
Status fold_constants(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
