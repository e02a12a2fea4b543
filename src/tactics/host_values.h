/// Numbers that an op needs before it runs, as expressions: they become a step's parameters.
#pragma once

#include "ir/graph.h"

namespace kiln {

/// The elements of input `i` of a node; empty where the input is absent. CHECKs that inference knew them.
SymbolicValues host_values(const ir::Graph& graph, const ir::Node& node, size_t i);

}  // namespace kiln
