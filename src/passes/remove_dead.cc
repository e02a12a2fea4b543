#include "passes/remove_dead.h"

#include <algorithm>

#include "passes/size_readers.h"

namespace kiln::passes {
namespace {

bool is_unused(const ir::Graph& graph, ir::NodeId id) {
  return std::ranges::all_of(graph.node(id).outputs, [&](ir::ValueId output) { return graph.num_uses(output) == 0; });
}

/// Whether anyone reads one of the sizes that the node decides.
bool decides_what_is_read(const ir::Node& node, const SizeReaders& readers) {
  return std::ranges::any_of(node.sizes, [&](const DecidedSize& size) { return readers.read(size.symbol); });
}

}  // namespace

Status remove_dead(ir::Graph& graph, PassContext&) {
  const std::vector<ir::NodeId> order = TRY(graph.topological_order());
  const bool decides = std::ranges::any_of(order, [&](ir::NodeId id) { return !graph.node(id).sizes.empty(); });
  SizeReaders readers;  // behind the node at hand
  for (auto id = order.rbegin(); id != order.rend(); ++id)
    if (is_unused(graph, *id) && !decides_what_is_read(graph.node(*id), readers))
      graph.remove(*id);
    else if (decides)
      readers.add(graph.node(*id));
  return {};
}

}  // namespace kiln::passes
