#include "passes/keep_large.h"

#include <algorithm>
#include <optional>

#include "base/str.h"
#include "ir/precision.h"
#include "ops/cast.h"
#include "ops/softmax.h"
#include "passes/softmax_reads.h"
#include "tensor/numeric.h"

namespace kiln::passes {
namespace {

struct Large {
  ir::ValueId value;
  float magnitude;
};

/// A tensor of the node beyond FP16's range; nothing if all that are known lie within it.
std::optional<Large> find_large(const ir::Graph& graph, const ir::Node& node, const Ranges& ranges) {
  for (const auto* values : {&node.outputs, &node.inputs})
    for (const ir::ValueId value : *values) {
      if (value == ir::ValueId::kNone || graph.type(value).dtype != DType::kF32 || graph.constant(value)) continue;
      if (const auto range = known_range(graph, value, ranges); range.value_or(0) > kLargestHalf)
        return Large{value, *range};
    }
  return std::nullopt;
}

/// Whether a node makes halves because the program says so: by its layer's precision, or by a cast.
bool is_half(const ir::Node& node) {
  const auto* cast = node.op.as<ops::Cast>();
  return (cast && cast->to == DType::kF16) || ir::float_precision_of(node) == DType::kF16;
}

}  // namespace

Result<LargeNumbers> keep_large(ir::Graph& graph, const Ranges& ranges) {
  const std::vector<ir::NodeId> order = TRY(graph.topological_order());
  const SoftmaxReads reads = softmax_reads(graph, order);
  LargeNumbers told;
  for (const ir::NodeId id : order) {
    const ir::Node& node = graph.node(id);
    const bool is_softmax = node.op.as<ops::Softmax>() != nullptr, forced = is_half(node);
    if (is_softmax || (ir::precision_of(node) && !forced)) continue;
    const bool makes_scores =
        std::ranges::any_of(node.outputs, [&](ir::ValueId output) { return reads.scores[ir::index(output)]; });
    if (makes_scores && node.op.has(Trait::kPointwise)) continue;
    const auto large = find_large(graph, node, ranges);
    if (!large) continue;
    const std::string name = node.name;
    (forced ? told.forced : told.kept)
        .push_back(str("'", name,
                       forced ? "' is in FP16, as the network or the layer's precision says: tensor '"
                              : "' stays in FP32: tensor '",
                       graph.value(large->value).name, "' reaches ", large->magnitude, ", beyond FP16's ",
                       kLargestHalf));
    if (!forced) ir::set_precision(graph, id, name, {DType::kF32});
  }
  return told;
}

}  // namespace kiln::passes
