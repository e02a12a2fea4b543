#include "passes/index_extents.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "ops/cast.h"
#include "ops/gather.h"

namespace kiln::passes {
namespace {

/// The least extent into which the indices of a gather point; nothing if none is known.
std::optional<int64_t> indexed_extent(const ir::Graph& graph, const ir::Node& node, const ops::Gather& gather) {
  const TensorType& data = graph.type(node.inputs[0]);
  const TensorType& indices = graph.type(node.inputs[1]);
  size_t first = static_cast<size_t>(gather.axis < 0 ? gather.axis + data.rank() : gather.axis), count = 1;
  if (gather.mode == GatherMode::kNd) {
    first = static_cast<size_t>(gather.num_elementwise_dims);
    count = static_cast<size_t>(indices.shape.back().constant().value_or(0));
  }
  std::optional<int64_t> least;
  for (size_t axis = first; axis < std::min(first + count, data.shape.size()); ++axis)
    if (const auto extent = data.shape[axis].constant()) least = std::min(least.value_or(*extent), *extent);
  return least;
}

/// The least extent among the gathers that read a value as indices, perhaps moved or cast.
std::optional<int64_t> index_extent(const ir::Graph& graph, ir::ValueId value) {
  std::set<ir::ValueId> seen{value};
  std::vector<ir::ValueId> open{value};
  std::optional<int64_t> least;
  while (!open.empty()) {
    const ir::ValueId read = open.back();
    open.pop_back();
    for (const ir::NodeId user : graph.value(read).users) {
      const ir::Node& node = graph.node(user);
      const auto* gather = node.op.as<ops::Gather>();
      if (gather && node.inputs[1] == read) {
        if (const auto extent = indexed_extent(graph, node, *gather))
          least = std::min(least.value_or(*extent), *extent);
      } else if ((node.op.has(Trait::kMovement) || node.op.as<ops::Cast>()) && seen.insert(node.outputs[0]).second) {
        open.push_back(node.outputs[0]);
      }
    }
  }
  return least;
}

}  // namespace

std::map<ir::ValueId, int64_t> index_extents(const ir::Graph& graph) {
  std::map<ir::ValueId, int64_t> extents;
  for (const ir::ValueId input : graph.inputs()) {
    if (!is_index(graph.type(input).dtype)) continue;
    if (const auto extent = index_extent(graph, input); extent.value_or(0) > 0) extents[input] = *extent;
  }
  return extents;
}

}  // namespace kiln::passes
