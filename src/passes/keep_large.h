/// Layers whose numbers leave FP16's range.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "passes/ranges.h"

namespace kiln::passes {

/// What reads or makes a tensor that reaches beyond FP16's largest number gets the precision FP32, unless a layer that
/// it is made of has one of its own. `told` gets a text a node, which names the tensor and what it reaches.
void keep_large(ir::Graph& graph, const Ranges& ranges, std::vector<std::string>& told);

}  // namespace kiln::passes
