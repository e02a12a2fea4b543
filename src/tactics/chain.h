/// Pointwise nodes that are computed together: grown upwards from the last one.
#pragma once

#include <vector>

#include "ops/nest_program.h"
#include "tactics/strided_view.h"
#include "tactics/tactic.h"

namespace kiln {

/// `nodes` in topological order, the root last; `leaves` are what they read from outside; `program` computes the root
/// from them, an input a leaf in that order.
struct Chain {
  std::vector<ir::NodeId> nodes;
  std::vector<ir::ValueId> leaves;
  NestProgram program;
  /// For each leaf, how the root's elements lie in it, with an extent and a stride an axis of the root; nothing where
  /// it broadcasts. Several leaves may be views of one value.
  std::vector<std::optional<StridedView>> views = {};
};

/// What a chain may read.
enum class ChainReach : uint8_t {
  kValues,  ///< values as they are
  kViews    ///< also what Slices, Transposes and Reshapes move, where it lies before they do
};

/// The largest chain whose only result is `root`'s: inner nodes have the root's shape and no reader outside. Expands
/// are looked through. Contractions' own clamps and biases are left to them, and so is the Quantize at the end of each
/// but one whose result reaches the root. `has_type` says of which types nests may be. A chain that reads views is
/// refused where it finds no Slice and no Transpose to read through: it would be the chain of values. `left_out` is no
/// part of it.
std::expected<Chain, Reject> grow_chain(const ir::Graph& graph, ir::NodeId root, bool (*has_type)(DType) = is_nest_type,
                                        ChainReach reach = ChainReach::kValues,
                                        ir::NodeId left_out = ir::NodeId::kNone);

}  // namespace kiln
