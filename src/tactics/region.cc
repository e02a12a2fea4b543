#include "tactics/region.h"

namespace kiln {

Region single_node_region(const ir::Graph& graph, ir::NodeId node) {
  return {{node}, graph.node(node).inputs, graph.node(node).outputs, {}};
}

std::string names_of(const ir::Graph& graph, const Region& region) {
  std::string names;
  for (const ir::NodeId id : region.nodes)
    if (const ir::Node& node = graph.node(id); !node.name.empty()) names += (names.empty() ? "" : " + ") + node.name;
  return names;
}

std::string ops_of(const ir::Graph& graph, const Region& region) {
  std::string ops;
  for (const ir::NodeId id : region.nodes) ops += str(ops.empty() ? "" : " + ", graph.node(id).op.name());
  return ops;
}

int num_sizes(const ir::Graph& graph, const Region& region) {
  size_t count = 0;
  for (const ir::NodeId id : region.nodes) count += graph.node(id).sizes.size();
  return static_cast<int>(count);
}

double estimated_bytes(const TensorType& type) {
  double bytes = bits_of(type.dtype) / 8.0;
  for (const int64_t extent : type.opt_extents()) bytes *= static_cast<double>(extent);
  return bytes;
}

Variant linear_variant(const Region& region, std::string name) {
  return {
      std::move(name), std::vector<Format>(region.inputs.size()), std::vector<Format>(region.outputs.size()), {}, 0};
}

}  // namespace kiln
