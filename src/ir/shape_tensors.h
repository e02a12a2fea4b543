/// Which tensors of a network are shape tensors: those whose values decide shapes.
#pragma once

#include "ir/graph.h"

namespace kiln::ir {

/// Whether a value carries symbolic values and comes from a Shape, or reaches an input that an op reads on the host
/// (a reshape's dimensions, a slice's starts) through values that carry them too; of an input also whether an extent or
/// attribute was made of its values. Fails where types cannot be inferred.
Result<bool> is_shape_tensor(Graph& graph, ValueId value);

/// The graph's inputs that are shape tensors, in their order: one look at the graph for all of them.
std::vector<ValueId> shape_inputs(Graph& graph);

}  // namespace kiln::ir
