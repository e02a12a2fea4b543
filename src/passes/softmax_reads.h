/// What softmaxes read, and what is added to it.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace kiln::passes {

/// By value.
struct SoftmaxReads {
  std::vector<bool> scores;  ///< a softmax reads it, perhaps moved
  std::vector<bool> masks;   ///< it is a term of a sum that a softmax reads, perhaps moved, scaled or within other sums
};

/// `order`: the graph's nodes in topological order.
SoftmaxReads softmax_reads(const ir::Graph& graph, std::span<const ir::NodeId> order);

}  // namespace kiln::passes
