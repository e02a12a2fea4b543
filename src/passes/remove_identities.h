/// Nodes that give back their input go.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Identity; Cast to the input's type; Reshape, Squeeze, Unsqueeze and Expand to the input's shape; Transpose by the
/// identity; Concatenation of one; Slice of everything. Always right: the elements and the type are the same.
Status remove_identities(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
