/// Seeded random networks for tests of passes.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace kiln::passes {

struct RandomGraph {
  ir::Graph graph;
  std::vector<HostTensor> inputs;  ///< for one binding of the symbols
};
/// A network of about `nodes` nodes of the kinds `ops` (constants aside), on inputs of ranks 1 to 4 some of whose
/// extents are symbols. Every value that nothing reads is an output, and a few more are.
RandomGraph random_graph(uint64_t seed, int nodes, std::span<const OpInfo* const> ops);

}  // namespace kiln::passes
