/// Chooses the float types that a network computes in on a GPU.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "tactics/tactic.h"

namespace kiln::cuda {

/// With `fp16` or `bf16` (fp16 wins) a weakly typed network's FP32 values become halves, except where half the range or
/// digits would be missed: powers, exponentials and sums in FP16, sums and averages in BF16, what is computed from
/// indices alone, and what kept_floats.h names, which may add texts for the log to `reasons`. Convolutions of few
/// weights keep those in FP32. A layer whose precision was set computes in that (ir/precision.h). A strongly typed
/// network stays as it is.
Status lower_floats(ir::Graph& graph, const Numerics& numerics, std::vector<std::string>& reasons);

}  // namespace kiln::cuda
