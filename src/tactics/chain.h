/// Pointwise nodes that are computed together: grown upwards from the last one.
#pragma once

#include <vector>

#include "ops/nest_program.h"
#include "tactics/tactic.h"

namespace kiln {

/// `nodes` in topological order, the root last; `leaves` are what they read from outside; `program` computes the root
/// from them, an input a leaf in that order.
struct Chain {
  std::vector<ir::NodeId> nodes;
  std::vector<ir::ValueId> leaves;
  NestProgram program;
};

/// The largest chain whose only result is `root`'s: inner nodes have the root's shape and no reader outside. Expands
/// are looked through. Contractions' own clamps and biases are left to them.
/// `has_type` says of which types nests may be.
std::expected<Chain, Reject> grow_chain(const ir::Graph& graph, ir::NodeId root,
                                        bool (*has_type)(DType) = is_nest_type);

}  // namespace kiln
