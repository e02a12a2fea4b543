/// Finds a network's shape tensors: those whose values decide shapes, or are made of shapes.
#pragma once

#include <span>

#include "ir/graph.h"

namespace kiln::ir {

/// Whether a value carries symbolic values and
/// - follows from a Shape, through any ops that carry them too, or
/// - reaches one of `marked`, or an input that an op reads on the host (a reshape's dimensions, a slice's starts),
///   through values that carry them too, or
/// - is an input of the network and an extent or an attribute was made of its values.
/// Fails where types cannot be inferred.
Result<bool> is_shape_tensor(Graph& graph, ValueId value, std::span<const ValueId> marked = {});

/// The graph's inputs that are shape tensors, in their order: one look at the graph for all of them.
std::vector<ValueId> shape_inputs(Graph& graph);

/// Whether an output of the network is computed from a value's elements: not where only its shape is asked for, and not
/// where the host reads it.
bool is_execution_tensor(const Graph& graph, ValueId value);

}  // namespace kiln::ir
