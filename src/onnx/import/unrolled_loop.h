/// Loops whose iterations stand one behind the other in the graph.
#pragma once

#include "onnx/import/bodies.h"

namespace kiln::onnx {

/// Puts all iterations of a Loop in its place, if the import knows how many there are and they have at most so many
/// nodes. Returns whether it did; where it did not, the graph is as it was.
Result<bool> unroll_loop(ImportContext& cx, const GraphDef& body, int64_t most_nodes);

}  // namespace kiln::onnx
