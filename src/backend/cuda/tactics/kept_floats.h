/// Nodes that stay in FP32 for their place in the network, where halves are allowed.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace kiln::cuda {

/// What stays in FP32.
struct KeptFloats {
  std::vector<bool> nodes;    ///< by node: it computes in FP32
  std::vector<bool> weights;  ///< by node: a convolution that does not, and whose weights stay FP32
  std::vector<bool> large;    ///< by value: it may be a number beyond the range of halves, as masks for a softmax are
};

/// Finds the floats that stay where the others become `half`. Each decision for constants adds a text to `reasons`.
///
/// Nodes, by type:
///   both   the operands of a logarithm whose result contractions use (a front end, as of a spectrogram): there the
///          relative error of small numbers becomes an absolute one. Log-probabilities at a network's end are not
///          meant, nor logarithms that are rounded to whole numbers.
///   both   LSTMs that hand their memory from run to run or from iteration to iteration, with the products that they
///          read: what adds up over all of them must not be rounded in each
///   both   what selections (NonMaxSuppression, TopK) read, back to the last contraction, and that if it is small:
///          rounding makes equal scores
///   both   positions in images (GridSample, RoiAlign), and what becomes whole numbers or FP64, back to the last
///          contraction: halves have too few digits for them
///   both   what adds or selects constants beyond the type's range, and what works on that: masks of a softmax, up to
///          the sum that it reads. Two such halves would add up to infinity, and a row of infinities has no softmax.
///   FP16   contractions by, and products with, constants beyond its range (65504) or its digits (below 6e-5)
///   BF16   the last contractions and what is behind them, whose errors nothing damps. With TF32 allowed they still
///          run on tensor cores.
///
/// Weights, by type:
///   both   constants of convolutions that are so few that their rounding errors do not average out: all pixels share
///          these
///   BF16   those of convolutions with few products in each sum: depthwise ones, and those that read pictures
///
/// An operand that is_position stays FP32 with its node in halves.
Result<KeptFloats> floats_to_keep(const ir::Graph& graph, DType half, std::vector<std::string>& reasons);

/// Whether an operand has positions in images.
bool is_position(const Op& op, size_t operand);

/// Whether a contraction is of such a front end, or what such an LSTM reads. TF32 has no more digits than FP16, so
/// these do without it.
bool needs_all_digits(const ir::Graph& graph, ir::NodeId id);

}  // namespace kiln::cuda
