/// Loops whose bodies are cells of recurrent networks.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// A loop that runs an LSTM, a GRU or a plain recurrent cell over all slices of its inputs becomes a Recurrence, whose
/// kernels multiply all inputs at once. The cell's sums and products are what the op computes, in another order, so
/// results differ by rounding alone. A loop that does anything else stays; the verbose log says why, where its body
/// looks like a cell.
Status recognize_recurrence(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
