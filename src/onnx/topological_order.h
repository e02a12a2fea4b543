/// The order in which a graph's nodes can run.
#pragma once

#include <cstddef>
#include <vector>

#include "base/error.h"
#include "onnx/model.h"

namespace kiln::onnx {

/// Indices of `graph`'s nodes such that each comes after the nodes that make what it, or a body of it, uses. Nodes that
/// are in order already stay where they are. A cycle is an error that names its nodes.
Result<std::vector<size_t>> topological_order(const GraphDef& graph);

}  // namespace kiln::onnx
