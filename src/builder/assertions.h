/// Assertions that a build cannot decide.
#pragma once

#include "ir/graph.h"

namespace kiln {

/// Makes a RunTimeAssertion, which stays in the graph as an output without a name, of each Assertion whose condition
/// data decides. The others became assumptions, which are checked when shapes are bound.
Status keep_assertions_on_data(ir::Graph& graph);

}  // namespace kiln
