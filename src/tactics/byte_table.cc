#include "tactics/byte_table.h"

#include <algorithm>
#include <vector>

#include "ops/quantization.h"
#include "ops/quantize.h"

namespace kiln {
namespace {

constexpr int64_t kFew = 4096;

bool makes_bytes(const ir::Graph& graph, ir::NodeId id) {
  return graph.node(id).op.as<ops::Quantize>() && is_byte(graph.output_type(id).dtype);
}

/// Whether the last node makes its result of the bytes of `source` and of single numbers alone.
bool is_function_of(const ir::Graph& graph, std::span<const ir::NodeId> nodes, ir::NodeId source) {
  std::vector<ir::ValueId> known{graph.node(source).outputs[0]};
  const auto is_known = [&](ir::ValueId value) { return std::ranges::find(known, value) != known.end(); };
  for (const ir::NodeId id : nodes) {
    const ir::Node& node = graph.node(id);
    if (id == source || std::ranges::none_of(node.inputs, is_known)) continue;
    for (const ir::ValueId value : node.inputs)
      if (value != ir::ValueId::kNone && !is_known(value) && graph.type(value).volume() != sym::Expr(1)) return false;
    known.push_back(node.outputs[0]);
  }
  return is_known(graph.node(nodes.back()).outputs[0]);
}

}  // namespace

std::optional<ir::NodeId> table_source(const ir::Graph& graph, std::span<const ir::NodeId> nodes) {
  const ir::NodeId root = nodes.back();
  if (!makes_bytes(graph, root) || volume(graph.output_type(root).opt_extents()) < kFew) return std::nullopt;
  for (const ir::NodeId id : nodes.first(nodes.size() - 1))
    if (makes_bytes(graph, id) && is_function_of(graph, nodes, id)) return id;
  return std::nullopt;
}

}  // namespace kiln
