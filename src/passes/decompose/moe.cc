/// Moe: the weights of the experts that tokens select, gathered, and products of batches with them.
#include "ops/moe.h"

#include <cmath>

#include "ops/activation.h"
#include "ops/gather.h"
#include "ops/matrix_multiply.h"
#include "ops/reduce.h"
#include "ops/unsqueeze.h"
#include "passes/decompose/compose.h"
#include "passes/decompose/decompose.h"

namespace kiln::passes {
namespace {

using enum ops::ElementWiseKind;

/// Tokens [batch, length, k or 1, 1, rows] times the matrices of their experts, plus their biases.
Result<ir::ValueId> affine(ir::Graph& graph, const ir::Node& node, ir::ValueId x, size_t weights, size_t bias) {
  const ir::ValueId selected = node.inputs[ops::Moe::kSelected];
  const ir::ValueId matrices = TRY(graph.add_one(ops::Gather{}, {node.inputs[weights], selected}));
  const ir::ValueId y = TRY(graph.add_one(ops::MatrixMultiply{}, {x, matrices}));
  if (node.input(bias) == ir::ValueId::kNone) return y;
  const ir::ValueId rows = TRY(graph.add_one(ops::Gather{}, {node.inputs[bias], selected}));
  return binary(graph, kSum, y, TRY(graph.add_one(ops::Unsqueeze{{3}}, {rows})));
}

/// a(gate) * (up + beta), both limited.
Result<ir::ValueId> gated(ir::Graph& graph, const ops::Moe& moe, ir::ValueId gate, ir::ValueId up) {
  if (std::isfinite(moe.limit)) {
    gate = TRY(binary(graph, kMin, gate, moe.limit));
    up = TRY(graph.add_one(ops::Activation{ops::ActivationKind::kClip, -moe.limit, moe.limit}, {up}));
  }
  if (moe.beta != 0) up = TRY(binary(graph, kSum, up, moe.beta));
  if (moe.activation == MoeActivation::kSilu) {
    const ir::ValueId scaled = moe.alpha == 1 ? gate : TRY(binary(graph, kProd, gate, moe.alpha));
    const ir::ValueId open = TRY(graph.add_one(ops::Activation{ops::ActivationKind::kSigmoid}, {scaled}));
    gate = TRY(binary(graph, kProd, gate, open));
  }
  return binary(graph, kProd, gate, up);
}

}  // namespace

Result<ir::ValueId> decompose_moe(ir::Graph& graph, ir::NodeId id) {
  using enum ops::Moe::Input;
  const ir::Node node = graph.node(id);
  const ir::ValueId x = TRY(graph.add_one(ops::Unsqueeze{{2, 3}}, {node.inputs[kX]}));
  const ir::ValueId gate = TRY(affine(graph, node, x, kGate, kGateBias));
  const ir::ValueId up = TRY(affine(graph, node, x, kUp, kUpBias));
  const ir::ValueId inner = TRY(gated(graph, *node.op.as<ops::Moe>(), gate, up));
  const ir::ValueId y = TRY(affine(graph, node, inner, kDown, kDownBias));
  const ir::ValueId scores = TRY(graph.add_one(ops::Unsqueeze{{3, 4}}, {node.inputs[kScores]}));
  const ir::ValueId weighted = TRY(binary(graph, kProd, y, scores));
  return graph.add_one(ops::Reduce{ops::ReduceKind::kSum, {2, 3}, false}, {weighted});
}

}  // namespace kiln::passes
