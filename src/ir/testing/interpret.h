/// Runs a graph on the host, an op at a time, for tests: what the network means.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace kiln::ir {

/// The graph's outputs by every op's reference. Symbols are bound to the extents (and, of shape tensors, the elements)
/// of the inputs; broken assumptions are errors.
Result<std::vector<HostTensor>> interpret(const Graph& graph, const std::vector<HostTensor>& inputs);

}  // namespace kiln::ir
