/// Layers whose numbers leave FP16's range.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "ir/graph.h"
#include "passes/ranges.h"

namespace kiln::passes {

/// Texts about nodes that read or make numbers beyond FP16's largest. Each names the layer, the tensor and what it
/// reaches.
struct LargeNumbers {
  std::vector<std::string> kept;    ///< of nodes that compute in FP32 now
  std::vector<std::string> forced;  ///< of nodes that the program has in FP16, where such numbers become infinity
};

/// Gives the precision FP32 to each node that reads or makes a tensor which reaches beyond FP16's largest number. A
/// node that has a precision keeps it. Softmaxes and the scores that they read are left out: masks make these large,
/// and lowering bounds them.
Result<LargeNumbers> keep_large(ir::Graph& graph, const Ranges& ranges);

}  // namespace kiln::passes
