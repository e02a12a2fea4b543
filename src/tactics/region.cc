#include "tactics/region.h"

namespace kiln {

Region single_node_region(const ir::Graph& graph, ir::NodeId node) {
  return {{node}, graph.node(node).inputs, graph.node(node).outputs, {}};
}

Variant linear_variant(const Region& region, std::string name) {
  return {
      std::move(name), std::vector<Format>(region.inputs.size()), std::vector<Format>(region.outputs.size()), {}, 0};
}

}  // namespace kiln
