#include "builder/assertions.h"

#include <algorithm>

#include "ops/assertion.h"
#include "ops/run_time_assertion.h"

namespace kiln {

namespace {

/// Keeps the assertions in a node's bodies, and the node with them.
Status keep_in_bodies(ir::Graph& graph, ir::NodeId id) {
  bool any = false;
  for (const auto& body : graph.node(id).bodies) {
    TRY(keep_assertions_on_data(*body));
    any |= std::ranges::any_of(body->outputs(), [](const ir::Output& output) { return output.name.empty(); });
  }
  if (any && !graph.node(id).outputs.empty()) graph.mark_output(graph.node(id).outputs[0], "");
  return {};
}

}  // namespace

Status keep_assertions_on_data(ir::Graph& graph) {
  for (int i = 0, count = graph.num_nodes(); i < count; ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    TRY(keep_in_bodies(graph, id));
    const auto* assertion = graph.node(id).op.as<ops::Assertion>();
    if (!assertion) continue;
    const ir::ValueId condition = graph.node(id).inputs[0];
    if (graph.type(condition).values || graph.constant(condition)) continue;
    const std::vector<std::string> provenance = graph.node(id).provenance;
    const ir::ValueId held =
        TRY(graph.add_one(ops::RunTimeAssertion{assertion->message}, {condition}, graph.node(id).name));
    graph.set_provenance(graph.value(held).producer, provenance);
    graph.mark_output(held, "");
  }
  return {};
}

}  // namespace kiln
