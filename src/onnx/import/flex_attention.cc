/// FlexAttention of domain ai.onnx.preview: attention whose scores and weights go through graphs of the node.
#include "onnx/dtypes.h"
#include "onnx/import/attention_parts.h"
#include "onnx/import/bodies.h"
#include "onnx/import/importers.h"
#include "ops/matrix_multiply.h"
#include "ops/softmax.h"
#include "tensor/compute_types.h"

namespace kiln::onnx::importers::preview {
namespace {

/// Returns what the graph of an attribute makes of x, which keeps its type; x where there is no such graph.
Result<ValueId> modified(ImportContext& cx, std::string_view attribute, ValueId x) {
  if (!cx.node().find(attribute)) return x;
  const GraphDef& graph = TRY(cx.node().need_graph(attribute));
  TRY(require(graph.inputs.size() == 1 && graph.outputs.size() == 1, attribute, " has ", graph.inputs.size(),
              " inputs and ", graph.outputs.size(), " outputs; one of each is needed"));
  const BodyArguments arguments{
      .values = {{graph.inputs[0].name, x}}, .sequences = {}, .suffix = str(" of ", label_of(cx.def()))};
  const BodyResults results = TRY(in_context(cx.bodies().import_here(graph, arguments), [&] { return attribute; }));
  cx.bodies().warn(results.warnings);
  const ValueId y = results.values[0];
  TRY(require(y != ValueId::kNone, attribute, " gives a sequence; a tensor is needed"));
  TRY(require(cx.dtype(y) == cx.dtype(x) && cx.rank(y) == 4, attribute, " makes ", cx.type(y), " of ", cx.type(x),
              "; type and shape have to stay"));
  for (int axis = 0; axis < 4; ++axis)
    TRY(require_equal(cx, cx.extent(x, axis), cx.extent(y, axis),
                      str("axis ", axis, " of what ", attribute, " makes")));
  return y;
}

/// The type of scores and weights.
Result<DType> softmax_type(ImportContext& cx, DType operands) {
  const auto given = static_cast<ElementType>(TRY(cx.node().get_int("softmax_precision", 0)));
  if (given == ElementType::kUndefined) return operands == DType::kF64 ? operands : DType::kF32;
  const DType type = TRY(in_context(need_dtype(given), [] { return "softmax_precision"; }));
  TRY(require(is_compute_float(type), "softmax_precision is ", given,
              "; FLOAT, FLOAT16, BFLOAT16 or DOUBLE is needed"));
  return type;
}

}  // namespace

Status flex_attention(ImportContext& cx) {
  const ValueId q = TRY(cx.input(0)), k = TRY(cx.input(1)), v = TRY(cx.input(2));
  for (const ValueId x : {q, k, v})
    TRY(require(cx.rank(x) == 4, "an operand is ", cx.type(x), "; [batch, heads, length, size] is needed"));
  const double scale = cx.node().find("scale") ? TRY(cx.node().get_float("scale", 0)) : TRY(usual_scale(cx, q));
  const DType type = TRY(softmax_type(cx, cx.dtype(q)));
  const ValueId raw = TRY(cast(cx, TRY(scores_of(cx, q, TRY(repeat_heads(cx, k, q)), scale)), type));
  const ValueId scores = TRY(modified(cx, "score_mod", raw));
  const ValueId weights = TRY(modified(cx, "prob_mod", TRY(cx.add(ops::Softmax{3}, {scores}))));
  const ValueId values = TRY(cast(cx, TRY(repeat_heads(cx, v, q)), type));
  const ValueId y = TRY(cx.add(ops::MatrixMultiply{}, {weights, values}));
  return cx.output(TRY(cast(cx, y, cx.dtype(v))));
}

}  // namespace kiln::onnx::importers::preview
