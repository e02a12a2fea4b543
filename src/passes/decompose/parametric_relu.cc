/// ParametricRelu: a product that is selected below zero.
#include "ops/parametric_relu.h"
#include "ops/select.h"
#include "passes/decompose/compose.h"
#include "passes/decompose/decompose.h"

namespace kiln::passes {

Result<ir::ValueId> decompose_parametric_relu(ir::Graph& graph, ir::NodeId id) {
  const ir::Node node = graph.node(id);
  const ir::ValueId x = node.inputs[0];
  const ir::ValueId scaled = TRY(binary(graph, ops::ElementWiseKind::kProd, x, node.inputs[1]));
  const ir::ValueId below = TRY(binary(graph, ops::ElementWiseKind::kLess, x, 0));
  return graph.add_one(ops::Select{}, {below, scaled, x});
}

}  // namespace kiln::passes
