/// Rewrites a graph into the types that the CPU's kernels compute in.
#pragma once

#include "ir/graph.h"
#include "tactics/tactic.h"

namespace kiln::cpu {

/// FP16 and BF16 values become FP32, with casts at the network's surface. In a strongly typed network every value is
/// still rounded to its type, by a cast there and back behind the op that makes it; in a weakly typed one, operands and
/// results of the layers whose precision is such a half are.
Status lower_to_float(ir::Graph& graph, const Numerics& numerics);

}  // namespace kiln::cpu
