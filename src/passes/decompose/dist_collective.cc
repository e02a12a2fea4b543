/// DistCollective: of one rank, nothing.
#include "ops/dist_collective.h"
#include "ops/identity.h"
#include "passes/decompose/decompose.h"

namespace kiln::passes {

Result<ir::ValueId> decompose_dist_collective(ir::Graph& graph, ir::NodeId id) {
  return graph.add_one(ops::Identity{}, {graph.node(id).inputs[0]});
}

}  // namespace kiln::passes
