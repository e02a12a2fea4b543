#include "passes/simplify_movement.h"

#include "passes/merge_around_reshapes.h"
#include "passes/merge_reshapes.h"
#include "passes/merge_transposes.h"

namespace kiln::passes {
namespace {

/// What any change of a graph by a patch changes: new nodes grow the first number, removed ones shrink the second.
std::pair<int, int> extent_of(const ir::Graph& graph) {
  int live = 0;
  for (int i = 0; i < graph.num_nodes(); ++i) live += graph.alive(static_cast<ir::NodeId>(i));
  return {graph.num_nodes(), live};
}

}  // namespace

Status simplify_movement(ir::Graph& graph, PassContext& cx) {
  for (int round = 0; round < 100; ++round) {
    const auto before = extent_of(graph);
    TRY(merge_transposes(graph, cx));
    TRY(merge_reshapes(graph, cx));
    TRY(merge_around_reshapes(graph, cx));
    if (extent_of(graph) == before) return {};
  }
  return error(Code::kInternal, "transposes and reshapes do not settle");
}

}  // namespace kiln::passes
