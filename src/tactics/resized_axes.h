/// The axes that a resize may change.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace kiln {

/// Returns, by axis of x of the Resize `node`, whether it may be resampled at some extents, for all that its graph
/// shows.
std::vector<bool> may_be_resized(const ir::Graph& graph, ir::NodeId node);

}  // namespace kiln
