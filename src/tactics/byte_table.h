/// Functions of a byte: chains that make bytes of the bytes of one Quantize, and of single numbers. They have 256
/// values, which a step of its own looks up.
#pragma once

#include <optional>
#include <span>

#include "ir/graph.h"

namespace kiln {

/// The first Quantize among `nodes`, which are in topological order, whose bytes the last one makes bytes of in this
/// way; none where there is none, or the result is so small that a step more would cost more.
std::optional<ir::NodeId> table_source(const ir::Graph& graph, std::span<const ir::NodeId> nodes);

}  // namespace kiln
