#include "passes/ranges.h"

#include <algorithm>
#include <limits>

#include "ops/concatenation.h"
#include "ops/pooling.h"

namespace kiln::passes {
namespace {

bool moves_numbers(const Op& op) {
  if (const auto* pooling = op.as<ops::Pooling>()) return pooling->kind == ops::PoolingKind::kMax;
  return op.has(Trait::kMovement) && !op.as<ops::Concatenation>();
}

}  // namespace

float scale_of_range(float range) { return std::max(range / 127, std::numeric_limits<float>::min()); }

std::optional<float> known_range(const ir::Graph& graph, ir::ValueId value, const Ranges& ranges) {
  while (true) {
    const auto found = ranges.find(graph.value(value).name);
    if (found != ranges.end()) return found->second;
    const ir::NodeId producer = graph.value(value).producer;
    if (producer == ir::NodeId::kNone || !moves_numbers(graph.node(producer).op)) return std::nullopt;
    value = graph.node(producer).inputs[0];
  }
}

}  // namespace kiln::passes
