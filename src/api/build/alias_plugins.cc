#include "api/build/alias_plugins.h"

#include "ops/plugin.h"

namespace kiln::api {
namespace {

Status check(const ir::Graph& graph, const ir::Node& node, const ops::Plugin& plugin) {
  std::vector<int> output_of(static_cast<size_t>(plugin.num_tensors), -1);
  for (size_t i = 0; i < plugin.aliased_inputs.size(); ++i) {
    const int input = plugin.aliased_inputs[i];
    if (input == -1) continue;
    TRY(require(input >= 0 && input < plugin.num_tensors, "getAliasedInput(", i, ") returned ", input, "; it has ",
                plugin.num_tensors, " inputs that are tensors"));
    int& output = output_of[static_cast<size_t>(input)];
    TRY(require(output < 0, "outputs ", output, " and ", i, " are aliased to input ", input, "; one at most may be"));
    output = static_cast<int>(i);
    const TensorType& from = graph.type(node.inputs[static_cast<size_t>(input)]);
    const TensorType& to = graph.type(node.outputs[i]);
    TRY(require(from.dtype == to.dtype && from.shape == to.shape, "output ", i, ", ", to, ", is aliased to input ",
                input, ", ", from, "; they have to be of one type and shape"));
  }
  return {};
}

}  // namespace

Status alias_plugins(ir::Graph& graph) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    for (const auto& body : graph.node(id).bodies) TRY(alias_plugins(*body));
    const auto* found = graph.node(id).op.as<ops::Plugin>();
    if (!found || !found->object) continue;
    ops::Plugin plugin = *found;
    plugin.aliased_inputs = plugin.object->aliased_inputs();
    if (plugin.aliased_inputs.empty()) continue;
    TRY(in_context(check(graph, graph.node(id), plugin),
                   [&] { return str("layer '", graph.node(id).name, "': ", plugin.plugin); }));
    graph.set_op(id, std::move(plugin));
  }
  return graph.infer();
}

void warn_of_aliases(const ir::Graph& graph, Log& log) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    const ir::Node& node = graph.node(id);
    for (const auto& body : node.bodies) warn_of_aliases(*body, log);
    const auto* plugin = node.op.as<ops::Plugin>();
    if (!plugin || !plugin->object) continue;
    const std::vector<int> wanted = plugin->object->aliased_inputs();
    for (size_t k = 0; k < wanted.size(); ++k)
      if (wanted[k] != -1)
        log.warning("layer '", node.name, "': ", plugin->plugin, ": getAliasedInput(", k, ") returned ", wanted[k],
                    ", which counts under PreviewFeature::kALIASED_PLUGIN_IO_10_03 alone: without it output ", k,
                    " has memory of its own, where the input's numbers are not");
  }
}

}  // namespace kiln::api
