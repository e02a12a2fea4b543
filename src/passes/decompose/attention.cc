/// Attention: two products around a softmax, as exporters spell it, so that the tactics of attention claim it.
#include "ops/attention.h"
#include "ops/attention_output.h"
#include "ops/dequantize.h"
#include "ops/identity.h"
#include "ops/matrix_multiply.h"
#include "ops/quantize.h"
#include "ops/select.h"
#include "ops/softmax.h"
#include "ops/unary.h"
#include "ops/unsqueeze.h"
#include "passes/decompose/compose.h"
#include "passes/decompose/decompose.h"

namespace kiln::passes {
namespace {

/// Every head as often as query heads share it.
Result<ir::ValueId> repeat_heads(ir::Graph& graph, ir::ValueId x, sym::Expr wanted) {
  const Shape shape = graph.type(x).shape;
  if (shape[1] == wanted) return x;
  const ir::ValueId apart = TRY(graph.add_one(ops::Unsqueeze{{2}}, {x}));
  const int64_t times = wanted.value() / shape[1].value();
  const ir::ValueId repeated = TRY(expanded(graph, apart, {shape[0], shape[1], times, shape[2], shape[3]}));
  return reshaped(graph, repeated, {shape[0], wanted, shape[2], shape[3]});
}

/// Whether query i sees key j: j is not behind i. The shape is a copy: one in the graph does not outlive what is added.
Result<ir::ValueId> causal_mask(ir::Graph& graph, Shape scores) {
  const ir::ValueId row = TRY(indices_along(graph, scores[2], 2, 4, DType::kI64));
  const ir::ValueId column = TRY(indices_along(graph, scores[3], 3, 4, DType::kI64));
  const ir::ValueId later = TRY(binary(graph, ops::ElementWiseKind::kGreater, column, row));
  return graph.add_one(ops::Unary{ops::UnaryKind::kNot}, {later});
}

}  // namespace

Result<ir::ValueId> decompose_attention(ir::Graph& graph, ir::NodeId id) {
  const ir::Node node = graph.node(id);
  const auto& op = *node.op.as<ops::Attention>();
  const TensorType q = graph.input_type(id, 0);
  const bool is_softmax = op.normalization == AttentionNormalization::kSoftmax;
  const ir::ValueId k = TRY(repeat_heads(graph, node.inputs[1], q.shape[1]));
  const ir::ValueId v = TRY(repeat_heads(graph, node.inputs[2], q.shape[1]));
  ir::ValueId scores =
      TRY(graph.add_one(ops::MatrixMultiply{ops::MatrixOp::kNone, ops::MatrixOp::kTranspose}, {node.inputs[0], k}));
  ir::ValueId mask = node.input(3);
  if (op.causal) mask = TRY(causal_mask(graph, graph.type(scores).shape));
  if (mask != ir::ValueId::kNone) {
    const bool is_added = graph.type(mask).dtype != DType::kBool;
    if (is_added || is_softmax) {
      const ir::ValueId bias = is_added ? mask : TRY(as_bias(graph, mask, q.dtype));
      scores = TRY(binary(graph, ops::ElementWiseKind::kSum, scores, bias));
    } else {
      scores = TRY(graph.add_one(ops::Select{}, {mask, scores, number(graph, 0, q.dtype, 4)}));
    }
  }
  if (is_softmax) scores = TRY(graph.add_one(ops::Softmax{3}, {scores}));
  if (op.quantize_to != DType::kF32) {
    const ir::ValueId scale = node.inputs[ops::Attention::kScale];
    const ir::ValueId narrow = TRY(graph.add_one(ops::Quantize{.to = op.quantize_to}, {scores, scale}));
    scores = TRY(graph.add_one(ops::Dequantize{.to = q.dtype}, {narrow, scale}));
  }
  return graph.add_one(ops::MatrixMultiply{}, {scores, v});
}

Result<ir::ValueId> decompose_attention_output(ir::Graph& graph, ir::NodeId id) {
  return graph.add_one(ops::Identity{}, {graph.node(id).inputs[0]});
}

}  // namespace kiln::passes
