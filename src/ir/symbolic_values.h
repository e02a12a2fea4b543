/// Network inputs whose elements shapes may depend on.
#pragma once

#include "ir/graph.h"

namespace kiln::ir {

/// Gives a small static index input of rank 0 or 1 symbols for its elements, so that shapes may depend on them. Called
/// for every input of a network; does nothing where the type cannot be a shape tensor, or where it was called before.
void give_symbolic_values(Graph& graph, ValueId input);
/// Gives them to a float input of which someone needs whole numbers; a context refuses others when it binds it.
void give_whole_values(Graph& graph, ValueId input);

}  // namespace kiln::ir
