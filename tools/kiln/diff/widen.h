/// A network in wide floats: what it means before types round it.
#pragma once

#include "ir/graph.h"

namespace kiln::diff {

/// `graph` anew, with FP32 wherever it has FP16 or BF16: inputs, constants, casts, and in bodies too. Fails where the
/// types of an op do not follow, which names the node.
Result<ir::Graph> widened(const ir::Graph& graph);

}  // namespace kiln::diff
