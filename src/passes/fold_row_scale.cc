#include "passes/fold_row_scale.h"

#include <algorithm>
#include <optional>

#include "ops/element_wise.h"
#include "ops/fold.h"
#include "ops/matrix_multiply.h"
#include "ops/normalization.h"

namespace kiln::passes {
namespace {

/// The scale of an RMS normalization of rows, if it is all that it has, and a constant of `k` numbers in FP32.
std::optional<ops::Constant> scale_of(const ir::Graph& graph, const ir::Node& node) {
  const auto* norm = node.op.as<ops::Normalization>();
  if (!norm || !norm->is_rms_of_rows(graph.type(node.inputs[0]).rank())) return {};
  if (node.input(1) == ir::ValueId::kNone || node.input(2) != ir::ValueId::kNone) return {};
  const auto* scale = graph.producer_as<ops::Constant>(node.input(1));
  if (!scale || scale->value.dtype() != DType::kF32 || scale->value.rank() == 0) return {};
  const Extents& extents = scale->value.extents();
  if (scale->value.volume() != extents.back() || graph.type(node.inputs[0]).shape.back() != sym::Expr(extents.back()))
    return {};
  return *scale;
}

/// Whether `user` is a product of the rows `a` by a constant matrix that nothing else reads.
bool takes_scale(const ir::Graph& graph, ir::NodeId user, ir::ValueId a) {
  const ir::Node& node = graph.node(user);
  const auto* op = node.op.as<ops::MatrixMultiply>();
  if (!op || op->a != ops::MatrixOp::kNone || op->b == ops::MatrixOp::kVector || node.inputs[0] != a) return false;
  const HostTensor* b = graph.constant(node.inputs[1]);
  return b && b->dtype() == DType::kF32 && b->volume() > 0 && graph.num_uses(node.inputs[1]) == 1;
}

/// diag(scale) * b, or b * diag(scale) where b is read transposed.
Status scale_matrix(ir::Graph& graph, ir::NodeId product, const ops::Constant& scale) {
  const ir::ValueId old = graph.node(product).inputs[1];
  const auto* op = graph.node(product).op.as<ops::MatrixMultiply>();
  const int64_t k = scale.value.volume();
  const Extents along = op->b == ops::MatrixOp::kTranspose ? Extents{1, k} : Extents{k, 1};
  const ops::Constant b = *graph.producer_as<ops::Constant>(old);
  const Extents& extents = b.value.extents();
  const size_t rank = extents.size();
  const ops::Constant matrices =
      reshaped(b, {volume(std::span(extents).first(rank - 2)), extents[rank - 2], extents[rank - 1]});
  const ops::Constant factors = reshaped(scale, {1, along[0], along[1]});
  const ops::Constant scaled = TRY(fold_one(ops::ElementWise{ops::ElementWiseKind::kProd}, {&matrices, &factors}));
  graph.set_input(product, 1, graph.add_constant(reshaped(scaled, extents), graph.value(old).name));
  return {};
}

}  // namespace

Status fold_row_scale(ir::Graph& graph, PassContext&) {
  bool changed = false;
  for (const ir::NodeId id : TRY(graph.topological_order())) {
    const auto scale = scale_of(graph, graph.node(id));
    if (!scale) continue;
    const ir::ValueId rows = graph.node(id).outputs[0];
    const std::vector<ir::NodeId> users(graph.value(rows).users.begin(), graph.value(rows).users.end());
    if (users.empty() || graph.is_output(rows) ||
        !std::ranges::all_of(users, [&](ir::NodeId user) { return takes_scale(graph, user, rows); }))
      continue;
    changed = true;
    for (const ir::NodeId user : users) TRY(scale_matrix(graph, user, *scale));
    graph.set_num_inputs(id, 1);
    graph.drop_taps(rows);  // it has become what is not scaled
  }
  return changed ? graph.infer() : Status();
}

}  // namespace kiln::passes
