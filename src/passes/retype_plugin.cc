#include "passes/retype_plugin.h"

#include "ops/plugin.h"

namespace kiln::passes {

Status retype_plugin(ir::Graph& graph, ir::NodeId id, std::span<const PluginTensor> tensors, const ConvertTensor& to,
                     const ConvertTensor& back) {
  ops::Plugin plugin = *graph.node(id).op.as<ops::Plugin>();
  const auto num_inputs = static_cast<size_t>(plugin.num_tensors);
  const std::vector<std::string> provenance = graph.node(id).provenance;
  const auto convert = [&](const ConvertTensor& conversion, ir::ValueId value, size_t index) -> Result<ir::ValueId> {
    const ir::ValueId result = TRY(conversion(value, index));
    graph.set_provenance(graph.value(result).producer, provenance);
    return result;
  };
  std::vector<DType> had;
  for (const ir::ValueId output : graph.node(id).outputs) had.push_back(graph.type(output).dtype);
  for (size_t i = 0; i < num_inputs; ++i) {
    const ir::ValueId input = graph.node(id).inputs[i];
    if (graph.type(input).dtype != tensors[i].dtype)
      graph.set_input(id, static_cast<int>(i), TRY(convert(to, input, i)));
  }
  std::vector<DType> output_types;  // in place of those that an earlier pass has set
  for (const PluginTensor& output : tensors.subspan(num_inputs)) output_types.push_back(output.dtype);
  plugin.output_types = std::move(output_types);
  graph.set_op(id, std::move(plugin));
  const std::vector<ir::ValueId> outputs = graph.node(id).outputs;
  for (const ir::ValueId output : outputs) TRY(graph.inferred_type(output));  // readers may not take the new type
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (graph.type(outputs[i]).dtype == had[i]) continue;
    const ir::ValueId converted = TRY(convert(back, outputs[i], num_inputs + i));
    graph.replace_uses(outputs[i], converted);
    graph.set_input(graph.value(converted).producer, 0, outputs[i]);
  }
  return {};
}

}  // namespace kiln::passes
