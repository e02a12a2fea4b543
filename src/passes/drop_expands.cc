#include "passes/drop_expands.h"

#include "ops/element_wise.h"
#include "ops/expand.h"
#include "ops/select.h"
#include "passes/reshape_to.h"
#include "passes/rewrite.h"

namespace kiln::passes {
namespace {

/// x with leading axes of extent 1 up to `rank`.
Result<ir::ValueId> with_rank(ir::Patch& patch, ir::ValueId x, int rank) {
  Shape shape(static_cast<size_t>(rank - patch.type(x).rank()), 1);
  shape.insert(shape.end(), patch.type(x).shape.begin(), patch.type(x).shape.end());
  return reshape_to(patch, x, shape);
}

Status drop_one(const ir::Capture& found, ir::Patch& patch) {
  const ir::Graph& graph = found.graph();
  const ir::Node& node = found.node("y");
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!graph.producer_as<ops::Expand>(node.inputs[i])) continue;
    ir::Patch attempt(graph);
    std::vector<ir::ValueId> inputs = node.inputs;
    const ir::ValueId repeated = graph.node(graph.value(inputs[i]).producer).inputs[0];
    inputs[i] = TRY(with_rank(attempt, repeated, graph.type(inputs[i]).rank()));
    const ir::ValueId y = TRY(attempt.add(node.op, inputs));
    if (!attempt.type(y).same_type(found.type("y"))) continue;
    TRY(attempt.replace(found.value("y"), y));
    patch = std::move(attempt);
    return {};
  }
  return {};
}

}  // namespace

Status drop_expands(ir::Graph& graph, PassContext&) {
  const auto rule = [](const ir::Capture& found, ir::Patch& patch) { return drop_one(found, patch); };
  TRY(rewrite(graph, ir::op<ops::ElementWise>("y", ir::any("a"), ir::any("b")), rule));
  return rewrite(graph, ir::op<ops::Select>("y", ir::any("c"), ir::any("a"), ir::any("b")), rule);
}

}  // namespace kiln::passes
