#include "passes/quantize_plugins.h"

#include <algorithm>

#include "ir/precision.h"
#include "ops/dequantize.h"
#include "ops/plugin.h"
#include "ops/plugin_combinations.h"
#include "ops/quantize.h"
#include "passes/quantize_contractions.h"
#include "passes/retype_plugin.h"

namespace kiln::passes {
namespace {

/// The node's tensors, inputs first: i8 before FP32 for what has a range.
std::vector<PluginChoices> choices_of(const ir::Graph& graph, const ir::Node& node, const ops::Plugin& plugin,
                                      const Ranges& ranges) {
  std::vector<PluginChoices> all;
  const auto add = [&](ir::ValueId value) {
    PluginChoices& one = all.emplace_back(plugin_choices(graph.type(value), graph.constant(value) != nullptr));
    const auto range = one.tensor.dtype == DType::kF32 && !one.is_constant ? known_range(graph, value, ranges)
                                                                           : std::optional<float>();
    if (!range) return;
    one.scale = scale_of_range(*range);
    one.dtypes.insert(one.dtypes.begin(), DType::kI8);
  };
  for (int i = 0; i < plugin.num_tensors; ++i) add(node.inputs[static_cast<size_t>(i)]);
  for (const ir::ValueId output : node.outputs) add(output);
  follow_aliases(std::span(all).last(node.outputs.size()), plugin.aliased_inputs);
  return all;
}

bool is_i8(const PluginTensor& tensor) { return tensor.dtype == DType::kI8; }

Status quantize_one(ir::Graph& graph, ir::NodeId id, const Ranges& ranges) {
  const auto& plugin = *graph.node(id).op.as<ops::Plugin>();
  const std::vector<PluginChoices> choices = choices_of(graph, graph.node(id), plugin, ranges);
  if (std::ranges::none_of(choices, [](const PluginChoices& one) { return one.scale.has_value(); })) return {};
  const auto found = first_combination(*plugin.object, choices, plugin.num_tensors).found;
  if (found.empty() || std::ranges::none_of(found[0], is_i8)) return {};
  const std::vector<PluginTensor>& tensors = found[0];
  ops::Plugin told = plugin;
  told.scales.clear();
  for (const PluginTensor& tensor : tensors) told.scales.push_back(double{tensor.scale});
  graph.set_op(id, std::move(told));
  const auto convert = [&](Op op, ir::ValueId value, size_t i, std::string_view what) -> Result<ir::ValueId> {
    const ir::ValueId scale = graph.add_constant(HostTensor::scalar(DType::kF32, double{tensors[i].scale}), "");
    return graph.add_one(std::move(op), {value, scale}, str(graph.value(value).name, what));
  };
  return retype_plugin(
      graph, id, tensors, [&](ir::ValueId value, size_t i) { return convert(ops::Quantize{}, value, i, " quantized"); },
      [&](ir::ValueId value, size_t i) -> Result<ir::ValueId> {
        // The floats keep the name, by which contractions behind the plugin find their range.
        const std::string name = graph.value(value).name;
        const ir::ValueId floats = TRY(convert(ops::Dequantize{}, value, i, " dequantized"));
        if (name.empty()) return floats;
        graph.set_name(value, name_of_bytes(name));
        graph.set_name(floats, name);
        return floats;
      });
}

}  // namespace

Status quantize_plugins(ir::Graph& graph, const Ranges& ranges) {
  for (const ir::NodeId id : TRY(graph.topological_order())) {
    const auto* plugin = graph.node(id).op.as<ops::Plugin>();
    if (!plugin || !plugin->object || !plugin->object->knows_scales()) continue;
    if (!ir::float_precision_of(graph.node(id))) TRY(quantize_one(graph, id, ranges));
  }
  return graph.infer();
}

}  // namespace kiln::passes
