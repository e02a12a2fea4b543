/// Which nodes stay in FP32 for their place in the network, where halves are allowed.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace kiln::cuda {

/// By node: whether it computes in FP32, or else, of a convolution, whether its weights stay FP32.
struct KeptFloats {
  std::vector<bool> nodes, weights;
};

/// What `half` keeps.
///
/// Nodes of both halves: what a logarithm's operand comes from, where contractions go on with the result (a front end,
/// as that of a spectrogram): the relative error of small numbers becomes an absolute one. Log-probabilities at a
/// network's end are another matter. FP16 also, which ends at 65504 and has few digits below 6e-5: contractions by, and
/// products with, constants beyond either. Each adds a text to `reasons`. BF16 also, whose eight bits are few: the last
/// contractions and what is behind them, whose errors nothing damps, and which is the output. With TF32 allowed they
/// are at home on tensor cores still.
///
/// Weights of both halves: constants of convolutions whose rounding errors, which all pixels share, do not average out,
/// since they are few. BF16 also: of convolutions with few products in each sum, which depthwise ones and those are
/// that read pictures.
Result<KeptFloats> floats_to_keep(const ir::Graph& graph, DType half, std::vector<std::string>& reasons);

/// Whether a node is of such a front end. TF32 has no more digits than FP16, so its contractions do without.
bool is_in_front_end(const ir::Graph& graph, ir::NodeId id);

}  // namespace kiln::cuda
