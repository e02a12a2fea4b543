/// Which nodes stay in FP32 for their place in the network, where halves are allowed.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace kiln::cuda {

/// By node. Both halves: what a logarithm's operand comes from, where contractions go on with the result (a front end,
/// as that of a spectrogram): the relative error of small numbers becomes an absolute one. Log-probabilities at a
/// network's end are another matter.
///
/// BF16 also, whose eight bits are few: the first contractions, whose errors pass through all that follows; the last
/// ones and what is behind them, whose errors nothing damps, and which is the output; and convolutions whose sums are
/// so short that errors do not average out (depthwise ones, which tensor cores do not help). With TF32 allowed they are
/// at home on tensor cores still.
Result<std::vector<bool>> nodes_kept_in_float(const ir::Graph& graph, DType half);

/// Whether a node is of such a front end. TF32 has no more digits than FP16, so its contractions do without.
bool is_in_front_end(const ir::Graph& graph, ir::NodeId id);

}  // namespace kiln::cuda
