#include "passes/settle.h"

namespace kiln::passes {
namespace {

/// Two numbers, one of which changes with any patch to a graph: new nodes grow the first number, removed ones shrink
/// the second.
std::pair<int, int> extent_of(const ir::Graph& graph) {
  int live = 0;
  for (int i = 0; i < graph.num_nodes(); ++i) live += graph.alive(static_cast<ir::NodeId>(i));
  return {graph.num_nodes(), live};
}

}  // namespace

Status settle(ir::Graph& graph, PassContext& cx, std::initializer_list<Pass> passes) {
  const int most = 100 + graph.num_nodes();
  for (int round = 0; round < most; ++round) {
    const auto before = extent_of(graph);
    for (const Pass pass : passes) TRY(pass(graph, cx));
    if (extent_of(graph) == before) return {};
  }
  return error(Code::kInternal, "passes that run until nothing changes do not settle: they keep changing the graph");
}

}  // namespace kiln::passes
