#include "api/build/repeat_plugin_inputs.h"

#include "ops/expand.h"
#include "ops/plugin.h"
#include "plugin/v2_plugin.h"

namespace kiln::api {
namespace {

/// Input `i` of a node, repeated along its first axis.
Status repeat_input(ir::Graph& graph, ir::NodeId id, int i, int64_t batch) {
  const ir::ValueId input = graph.node(id).inputs[static_cast<size_t>(i)];
  std::vector<int64_t> dims(static_cast<size_t>(graph.type(input).rank()), 1);  // 1 keeps an extent
  dims[0] = batch;
  const ir::ValueId repeated =
      TRY(graph.add_one(ops::Expand{dims}, {input}, str(graph.node(id).name, ": input ", i, " repeated")));
  graph.set_provenance(graph.value(repeated).producer, graph.node(id).provenance);
  graph.set_input(id, i, repeated);
  return {};
}

}  // namespace

Status repeat_plugin_inputs(ir::Graph& graph) {
  const int count = graph.num_nodes();
  for (int n = 0; n < count; ++n) {
    const auto id = static_cast<ir::NodeId>(n);
    if (!graph.alive(id)) continue;
    for (const auto& body : graph.node(id).bodies) TRY(repeat_plugin_inputs(*body));
    const auto* plugin = graph.node(id).op.as<ops::Plugin>();
    if (!plugin || !plugin->object || !plugin::has_hidden_batch(*plugin->object)) continue;
    const TensorType& y = TRY(graph.inferred_type(graph.node(id).outputs[0]));
    const auto batch = y.shape[0].constant();
    for (int i = 0; batch && i < std::ssize(graph.node(id).inputs); ++i) {
      const TensorType& x = TRY(graph.inferred_type(graph.node(id).inputs[static_cast<size_t>(i)]));
      if (x.shape[0].constant() != batch) TRY(repeat_input(graph, id, i, *batch));
    }
  }
  return {};
}

}  // namespace kiln::api
