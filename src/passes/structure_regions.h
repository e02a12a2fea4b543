/// Loops and conditionals of a network become nodes with bodies.
#pragma once

#include <span>
#include <string>

#include "ir/graph.h"

namespace kiln::passes {

/// Whether a graph has boundaries of groups.
bool has_regions(const ir::Graph& graph);

/// A copy of a network in which each group of layers is one ops::Loop or ops::If, with bodies. It runs before
/// everything else, since nothing else knows boundaries. The meaning of boundaries is that of these nodes, so the copy
/// computes the same. `names` are those of the groups, by the id that boundaries have. The network's types need not
/// have been inferred, and the copy's are. Fails as `find_regions` does, and where types do not fit.
Result<ir::Graph> structure_regions(const ir::Graph& network, std::span<const std::string> names);

}  // namespace kiln::passes
