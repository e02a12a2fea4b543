/// Assertions that a build cannot decide.
#pragma once

#include "ir/graph.h"

namespace kiln {

/// Makes a RunTimeAssertion, which stays in the graph as an output without a name, of each Assertion whose condition
/// data decides, in bodies too. The others became assumptions, which are checked when shapes are bound. To be called
/// before any pass, once: a pass may put a branch in the place of its node.
Status keep_assertions_on_data(ir::Graph& graph);

}  // namespace kiln
