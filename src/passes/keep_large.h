/// Layers whose numbers leave FP16's range.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "ir/graph.h"
#include "passes/ranges.h"

namespace kiln::passes {

/// Gives the precision FP32 to each node that reads or makes a tensor which reaches beyond FP16's largest number. A
/// node that has a precision keeps it. Softmaxes and the scores that they read are left out: masks make these large,
/// and lowering bounds them. `told` gets a text a node, which names the tensor and what it reaches.
Status keep_large(ir::Graph& graph, const Ranges& ranges, std::vector<std::string>& told);

}  // namespace kiln::passes
