/// Moe: the weights of the experts that tokens select, gathered, and products of batches with them.
#include "ops/moe.h"

#include <array>
#include <cmath>

#include "ops/activation.h"
#include "ops/cast.h"
#include "ops/dequantize.h"
#include "ops/dynamic_quantize.h"
#include "ops/gather.h"
#include "ops/matrix_multiply.h"
#include "ops/quantize.h"
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

/// x, [batch, length, k, 1, inner], quantized by a scale that is given and back.
Result<ir::ValueId> through_scale(ir::Graph& graph, const ir::Node& node, ir::ValueId x) {
  const DType to = node.op.as<ops::Moe>()->quantize_to, dtype = graph.type(x).dtype;
  ir::ValueId scale = node.inputs[ops::Moe::kDownScale];
  if (graph.type(scale).volume().constant() != 1) {
    const ir::ValueId of_experts = TRY(graph.add_one(ops::Gather{}, {scale, node.inputs[ops::Moe::kSelected]}));
    scale = TRY(graph.add_one(ops::Unsqueeze{{3, 4}}, {of_experts}));
  }
  const ir::ValueId narrow = TRY(graph.add_one(ops::Quantize{.to = to}, {x, scale}));
  return graph.add_one(ops::Dequantize{.to = dtype}, {narrow, scale});
}

/// x, [batch, length, k, 1, inner], quantized by scales of its blocks and back. Dequantize takes no scales of FP8, so
/// these become floats first; scales that are powers of two leave the double scale to a product behind.
Result<ir::ValueId> through_blocks(ir::Graph& graph, const ir::Node& node, ir::ValueId x) {
  const auto& moe = *node.op.as<ops::Moe>();
  const DType dtype = graph.type(x).dtype;
  const ir::ValueId twice = node.inputs[ops::Moe::kDownScale];
  const ops::DynamicQuantize op{
      .to = moe.quantize_to, .scale_type = moe.scale_type, .block = {1, 1, 1, 1, moe.block.back()}};
  const std::vector<ir::ValueId> made = TRY(graph.add(op, std::array{x, twice}));
  if (moe.scale_type == DType::kF8E4M3) {
    const ir::ValueId scales = TRY(graph.add_one(ops::Dequantize{.to = DType::kF32}, {made[1], twice}));
    return graph.add_one(ops::Dequantize{.to = dtype, .block = op.block}, {made[0], scales});
  }
  const ir::ValueId once = TRY(graph.add_one(ops::Dequantize{.to = DType::kF32, .block = op.block}, made));
  const ir::ValueId as_float = TRY(graph.add_one(ops::Cast{DType::kF32}, {twice}));
  const ir::ValueId y = TRY(binary(graph, kProd, once, TRY(reshaped(graph, as_float, {1, 1, 1, 1, 1}))));
  return graph.add_one(ops::Cast{dtype}, {y});
}

/// What the last product reads.
Result<ir::ValueId> quantized(ir::Graph& graph, const ir::Node& node, ir::ValueId x) {
  switch (node.op.as<ops::Moe>()->quantization) {
    case MoeQuantization::kStatic: return through_scale(graph, node, x);
    case MoeQuantization::kDynamic: return through_blocks(graph, node, x);
    default: return x;
  }
}

}  // namespace

Result<ir::ValueId> decompose_moe(ir::Graph& graph, ir::NodeId id) {
  using enum ops::Moe::Input;
  const ir::Node node = graph.node(id);
  const ir::ValueId x = TRY(graph.add_one(ops::Unsqueeze{{2, 3}}, {node.inputs[kX]}));
  const ir::ValueId gate = TRY(affine(graph, node, x, kGate, kGateBias));
  const ir::ValueId up = TRY(affine(graph, node, x, kUp, kUpBias));
  const ir::ValueId product = TRY(gated(graph, *node.op.as<ops::Moe>(), gate, up));
  const ir::ValueId inner = TRY(quantized(graph, node, product));
  const ir::ValueId y = TRY(affine(graph, node, inner, kDown, kDownBias));
  const ir::ValueId scores = TRY(graph.add_one(ops::Unsqueeze{{3, 4}}, {node.inputs[kScores]}));
  const ir::ValueId weighted = TRY(binary(graph, kProd, y, scores));
  return graph.add_one(ops::Reduce{ops::ReduceKind::kSum, {2, 3}, false}, {weighted});
}

}  // namespace kiln::passes
