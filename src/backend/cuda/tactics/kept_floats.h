/// Which nodes stay in FP32 for their place in the network, where halves are allowed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace kiln::cuda {

/// Whether a node computes in FP32; with followers, so does what only works on, or moves, its values.
enum class Kept : uint8_t { kNo, kAlone, kWithFollowers };

/// By node. Both halves: what a logarithm's operand comes from, where contractions go on with the result (a front end,
/// as that of a spectrogram): the relative error of small numbers becomes an absolute one. Log-probabilities at a
/// network's end are another matter.
///
/// FP16 also, which ends at 65504 and has few digits below 6e-5: contractions by, and products with, constants beyond
/// either. Each adds a text to `reasons`.
///
/// BF16 also, whose eight bits are few: a convolution that no other contraction is before, which reads pictures or
/// samples (kAlone: behind it BF16 does); the last contractions and what is behind them, whose errors nothing damps,
/// and which is the output. With TF32 allowed they are at home on tensor cores still.
Result<std::vector<Kept>> nodes_kept_in_float(const ir::Graph& graph, DType half, std::vector<std::string>& reasons);

/// Whether a node is a convolution by constant weights whose rounding errors, which all pixels share, do not average
/// out: there are few weights, or in BF16 few in each sum (depthwise ones). It keeps them in FP32, though it computes
/// in halves.
bool keeps_float_weights(const ir::Graph& graph, ir::NodeId id, DType half);

/// Whether a node is of such a front end. TF32 has no more digits than FP16, so its contractions do without.
bool is_in_front_end(const ir::Graph& graph, ir::NodeId id);

}  // namespace kiln::cuda
