#include "passes/quantize_layers.h"

#include <algorithm>

#include "ir/precision.h"
#include "ops/dequantize.h"
#include "ops/quantize.h"
#include "passes/quantize_contractions.h"

namespace kiln::passes {
namespace {

using ir::ValueId;

/// Whether numbers that only this op reads may stay in the registers of the step that makes them.
bool joins_step(const Op& op) { return op.has(Trait::kPointwise); }

/// `joins`: what reads the value is one that may join the step which makes it.
bool has_bytes(const ir::Graph& graph, ValueId value, bool joins) {
  if (graph.producer_as<ops::Dequantize>(value)) return true;
  const ir::NodeId producer = graph.value(value).producer;
  if (producer == ir::NodeId::kNone) return false;
  const ir::Node& node = graph.node(producer);
  if (node.op.has(Trait::kMovement)) return has_bytes(graph, node.inputs[0], false);
  if (!joins || graph.num_uses(value) != 1) return false;
  if (node.op.has(Trait::kContraction)) return graph.producer_as<ops::Dequantize>(node.inputs[0]);
  return joins_step(node.op) &&
         std::ranges::any_of(node.inputs, [&](ValueId input) { return has_bytes(graph, input, true); });
}

bool is_layer_of_bytes(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.op.has(Trait::kContraction) || node.op.as<ops::Quantize>() || node.op.as<ops::Dequantize>()) return false;
  if (node.outputs.empty() || graph.type(node.outputs[0]).dtype != DType::kF32) return false;
  const auto precision = ir::precision_of(node);
  return precision && precision->type == DType::kI8;
}

bool lacks_bytes(const ir::Graph& graph, const ir::Node& node, ValueId input) {
  return input != ValueId::kNone && graph.type(input).dtype == DType::kF32 && !graph.constant(input) &&
         !has_bytes(graph, input, joins_step(node.op));
}

}  // namespace

std::optional<ValueId> input_without_bytes(const ir::Graph& graph, ir::NodeId id) {
  if (!is_layer_of_bytes(graph, id)) return std::nullopt;
  const ir::Node& node = graph.node(id);
  const auto found = std::ranges::find_if(node.inputs, [&](ValueId input) { return lacks_bytes(graph, node, input); });
  return found == node.inputs.end() ? std::nullopt : std::optional(*found);
}

Status quantize_layers(ir::Graph& graph, const Ranges& ranges) {
  for (const ir::NodeId id : TRY(graph.topological_order())) {
    if (!is_layer_of_bytes(graph, id)) continue;
    const ir::Node node = graph.node(id);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!lacks_bytes(graph, node, node.inputs[i])) continue;
      if (const auto range = known_range(graph, node.inputs[i], ranges))
        graph.set_input(id, static_cast<int>(i), TRY(through_bytes(graph, node.inputs[i], *range, node.name)));
    }
  }
  return graph.infer();
}

}  // namespace kiln::passes
