/// Nodes that nothing reads go.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Always right: what is removed has no side effect and no reader. Network inputs stay, used or not.
Status remove_dead(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
