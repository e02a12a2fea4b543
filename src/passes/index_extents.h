/// Inputs of a network that are indices.
#pragma once

#include <map>

#include "ir/graph.h"

namespace kiln::passes {

/// By input: the extent of the axis into which it is an index. Gathers read it, perhaps moved or cast; of several the
/// one with the least extent counts. Other inputs, and indices into axes of unknown extents, are left out.
std::map<ir::ValueId, int64_t> index_extents(const ir::Graph& graph);

}  // namespace kiln::passes
