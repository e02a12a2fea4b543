/// Passes that help each other, repeated until none changes anything.
#pragma once

#include <initializer_list>

#include "passes/pass.h"

namespace kiln::passes {

/// Runs the passes in their order, again and again until a round changes no node. An internal error if that never is.
Status settle(ir::Graph& graph, PassContext& cx, std::initializer_list<Pass> passes);

}  // namespace kiln::passes
