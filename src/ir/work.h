/// How much a node computes, where its tensors' extents alone do not tell.
#pragma once

#include "ir/graph.h"

namespace kiln::ir {

/// Numbers that a node adds up at the optimum shapes. All 0 of ops that look at an element a few times at most.
struct Work {
  double products = 0;  ///< of contractions
  double taps = 0;      ///< of windows
  double all() const { return products + taps; }
};
Work work_of(const Graph& graph, NodeId id);

}  // namespace kiln::ir
