#include "builder/assertions.h"

#include "ops/assertion.h"
#include "ops/run_time_assertion.h"

namespace kiln {

Status keep_assertions_on_data(ir::Graph& graph) {
  for (int i = 0, count = graph.num_nodes(); i < count; ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    const auto* assertion = graph.alive(id) ? graph.node(id).op.as<ops::Assertion>() : nullptr;
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
