/// Shuffle: a transpose, a reshape and a transpose, each left out where it does nothing.
#include "ops/shuffle.h"
#include "ops/reshape.h"
#include "ops/transpose.h"
#include "passes/decompose/decompose.h"

namespace kiln::passes {

Result<ir::ValueId> decompose_shuffle(ir::Graph& graph, ir::NodeId id) {
  const ir::Node node = graph.node(id);
  const ops::Shuffle& shuffle = *node.op.as<ops::Shuffle>();
  ir::ValueId y = node.inputs[0];
  if (!shuffle.first_perm.empty()) y = TRY(graph.add_one(ops::Transpose{shuffle.first_perm}, {y}));
  const bool by_input = node.inputs.size() > 1 && node.inputs[1] != ir::ValueId::kNone;
  const ops::Reshape reshape{shuffle.dims, shuffle.zero_is_placeholder};
  if (by_input)
    y = TRY(graph.add_one(reshape, {y, node.inputs[1]}));
  else if (shuffle.reshape)
    y = TRY(graph.add_one(reshape, {y}));
  if (!shuffle.second_perm.empty()) y = TRY(graph.add_one(ops::Transpose{shuffle.second_perm}, {y}));
  return y;
}

}  // namespace kiln::passes
