/// The memory that a tensor of the run takes at most.
#pragma once

#include "ir/graph.h"
#include "tensor/format.h"

namespace kiln {

/// Bytes at the largest extents, or fewer where the graph assumes something of the volume: a reshape by numbers of the
/// run has as many elements as its input, whatever each extent may be. Fails where that is too much to be counted.
Result<int64_t> largest_size_bytes(const ir::Graph& graph, const TensorType& type, const Format& format);

}  // namespace kiln
