/// A Slice's starts, sizes and strides, wherever they come from.
#pragma once

#include <optional>

#include "ir/graph.h"
#include "ops/slice.h"

namespace kiln::passes {

/// The spec of a Slice node, an entry for every axis of x; nothing where a part is computed from data.
std::optional<SliceSpec> slice_spec_of(const ir::Graph& graph, ir::NodeId slice);

}  // namespace kiln::passes
