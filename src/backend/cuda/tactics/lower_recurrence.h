/// Recurrences into the product of their inputs and what is left.
#pragma once

#include "ir/graph.h"

namespace kiln::cuda {

/// The product of all time steps' inputs with w becomes a MatrixMultiply, which has kernels of its own, and the
/// recurrence takes its result. Always right: that is what a Recurrence without w means.
Status lower_recurrences(ir::Graph& graph);

}  // namespace kiln::cuda
