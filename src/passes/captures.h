/// What bodies read of the graph around them.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// The first input of a node with bodies that is captured: body input i is input i + 1 of the node.
size_t first_captured(const ir::Node& node);

/// Gives each body copies of the constants that it captures, and forgets captures that no body reads.
Status tidy_captures(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
