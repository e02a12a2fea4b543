#include "passes/keep_large.h"

#include <algorithm>

#include "base/str.h"
#include "ir/precision.h"
#include "tensor/numeric.h"

namespace kiln::passes {
namespace {

/// A tensor of the node beyond FP16's range; none if all that are known lie within it.
ir::ValueId find_large(const ir::Graph& graph, const ir::Node& node, const Ranges& ranges) {
  for (const auto* values : {&node.outputs, &node.inputs})
    for (const ir::ValueId value : *values) {
      if (value == ir::ValueId::kNone || graph.type(value).dtype != DType::kF32 || graph.constant(value)) continue;
      if (known_range(graph, value, ranges).value_or(0) > kLargestHalf) return value;
    }
  return ir::ValueId::kNone;
}

}  // namespace

void keep_large(ir::Graph& graph, const Ranges& ranges, std::vector<std::string>& told) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id) || ir::precision_of(graph.node(id))) continue;
    const ir::ValueId value = find_large(graph, graph.node(id), ranges);
    if (value == ir::ValueId::kNone) continue;
    const std::string name = graph.node(id).name;
    told.push_back(str("'", name, "' stays in FP32: tensor '", graph.value(value).name, "' reaches ",
                       *known_range(graph, value, ranges), ", beyond FP16's ", kLargestHalf));
    ir::set_precision(graph, id, name, {DType::kF32});
  }
}

}  // namespace kiln::passes
