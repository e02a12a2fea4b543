#include "passes/fit_plugin_types.h"

#include <algorithm>
#include <array>

#include "ops/cast.h"
#include "ops/plugin.h"
#include "ops/plugin_combinations.h"
#include "passes/retype_plugin.h"

namespace kiln::passes {
namespace {

constexpr std::array kFloats{DType::kF32, DType::kF16, DType::kBF16};

bool is_replaceable(DType dtype) { return std::ranges::find(kFloats, dtype) != kFloats.end(); }

/// The node's tensors, inputs first, of their types, or also of other floats.
std::vector<PluginChoices> choices_of(const ir::Graph& graph, const ir::Node& node, int num_tensors,
                                      bool other_floats) {
  std::vector<PluginChoices> all;
  const auto add = [&](ir::ValueId value) {
    PluginChoices& one = all.emplace_back(plugin_choices(graph.type(value), graph.constant(value) != nullptr));
    if (!other_floats || !is_replaceable(one.tensor.dtype)) return;
    for (const DType dtype : kFloats)
      if (dtype != one.tensor.dtype) one.dtypes.push_back(dtype);
  };
  for (int i = 0; i < num_tensors; ++i) add(node.inputs[static_cast<size_t>(i)]);
  for (const ir::ValueId output : node.outputs) add(output);
  const auto& plugin = *node.op.as<ops::Plugin>();
  set_scales(all, plugin.scales);
  follow_aliases(std::span(all).last(node.outputs.size()), plugin.aliased_inputs);
  return all;
}

/// Casts inputs to the types of `tensors`, and outputs of those types back.
Status cast_around(ir::Graph& graph, ir::NodeId id, std::span<const PluginTensor> tensors) {
  const size_t num_inputs = tensors.size() - graph.node(id).outputs.size();
  std::vector<DType> had;  // by the outputs
  for (const ir::ValueId output : graph.node(id).outputs) had.push_back(graph.type(output).dtype);
  const auto cast = [&](ir::ValueId value, DType to) {
    return graph.add_one(ops::Cast{to}, {value}, str(graph.value(value).name, " as ", to));
  };
  return retype_plugin(
      graph, id, tensors, [&](ir::ValueId value, size_t i) { return cast(value, tensors[i].dtype); },
      [&](ir::ValueId value, size_t i) { return cast(value, had[i - num_inputs]); });
}

Status fit(ir::Graph& graph, ir::NodeId id, PassContext& cx) {
  const ir::Node& node = graph.node(id);
  const auto& plugin = *node.op.as<ops::Plugin>();
  const auto first = [&](bool other_floats) {
    return first_combination(*plugin.object, choices_of(graph, node, plugin.num_tensors, other_floats),
                             plugin.num_tensors);
  };
  const PluginCombinations own = first(false);
  if (!own.found.empty() || own.has_given_up) return {};
  const PluginCombinations other = first(true);
  if (other.found.empty()) return {};  // the build says so
  const std::string words =
      str("layer '", node.name, "': ", plugin.plugin, " does not take the network's types; casts to ",
          types_text(other.found[0], static_cast<size_t>(plugin.num_tensors)), " stand around it");
  if (cx.warned.insert(words).second) cx.log.warning(words);
  return cast_around(graph, id, other.found[0]);
}

}  // namespace

Status fit_plugin_types(ir::Graph& graph, PassContext& cx) {
  if (cx.strongly_typed) return {};
  const int num_nodes = graph.num_nodes();  // casts come behind them
  for (int i = 0; i < num_nodes; ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    const auto* plugin = graph.alive(id) ? graph.node(id).op.as<ops::Plugin>() : nullptr;
    if (plugin && plugin->object) TRY(fit(graph, id, cx));
  }
  return graph.infer();
}

}  // namespace kiln::passes
