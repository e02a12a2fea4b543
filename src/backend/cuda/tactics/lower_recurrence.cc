#include "backend/cuda/tactics/lower_recurrence.h"

#include "ops/fold.h"
#include "ops/matrix_multiply.h"
#include "ops/recurrence.h"
#include "ops/reshape.h"

namespace kiln::cuda {
namespace {

using ops::Recurrence;

/// w [directions, rows, input] as [1, directions * rows, input].
Result<ir::ValueId> joined_directions(ir::Graph& graph, ir::ValueId w) {
  const Shape& shape = graph.type(w).shape;
  const sym::Expr rows = shape[0] * shape[1];
  if (const auto* constant = graph.producer_as<ops::Constant>(w); constant && rows.is_const())
    return graph.add_constant(reshaped(*constant, {1, rows.value(), shape[2].value()}), graph.value(w).name);
  return ir::ValueId::kNone;
}

}  // namespace

Status lower_recurrences(ir::Graph& graph) {
  for (const ir::NodeId id : TRY(graph.topological_order())) {
    const ir::Node& node = graph.node(id);
    if (!node.op.as<Recurrence>() || node.inputs[Recurrence::kW] == ir::ValueId::kNone) continue;
    const ir::ValueId w = TRY(joined_directions(graph, node.inputs[Recurrence::kW]));
    if (w == ir::ValueId::kNone) continue;  // its tactic says why it does not take the node
    const ir::ValueId product = TRY(graph.add_one(ops::MatrixMultiply{ops::MatrixOp::kNone, ops::MatrixOp::kTranspose},
                                                  {graph.node(id).inputs[Recurrence::kX], w}, graph.node(id).name));
    graph.set_provenance(graph.value(product).producer, graph.node(id).provenance);
    graph.set_input(id, Recurrence::kX, product);
    graph.set_input(id, Recurrence::kW, ir::ValueId::kNone);
  }
  return graph.infer();
}

}  // namespace kiln::cuda
