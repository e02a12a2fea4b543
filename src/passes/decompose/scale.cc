/// Scale: a product, a sum and a power, each left out where its coefficients are absent.
#include "ops/scale.h"

#include "ops/cast.h"
#include "ops/element_wise.h"
#include "passes/decompose/compose.h"
#include "passes/decompose/decompose.h"

namespace kiln::passes {
namespace {

/// The coefficients in x's rank: 1 along axes that share them.
Result<ir::ValueId> aligned(ir::Graph& graph, ir::ValueId coefficients, const ops::Scale& scale, const TensorType& x) {
  Shape shape(x.shape.size(), 1);
  const int axis =
      scale.mode == ops::ScaleMode::kUniform ? x.rank() : TRY(normalize_axis(scale.channel_axis, x.rank()));
  const int end = scale.mode == ops::ScaleMode::kChannel ? axis + 1 : x.rank();
  for (int i = axis; i < end; ++i) shape[static_cast<size_t>(i)] = x.shape[static_cast<size_t>(i)];
  const ir::ValueId y = TRY(reshaped(graph, coefficients, shape));
  if (graph.type(y).dtype == x.dtype) return y;
  return graph.add_one(ops::Cast{x.dtype}, {y});
}

}  // namespace

Result<ir::ValueId> decompose_scale(ir::Graph& graph, ir::NodeId id) {
  const ir::Node node = graph.node(id);
  const ops::Scale& scale = *node.op.as<ops::Scale>();
  const TensorType x = graph.input_type(id, 0);
  ir::ValueId y = node.inputs[0];
  const struct {
    size_t input;
    ops::ElementWiseKind kind;
  } parts[] = {{2, ops::ElementWiseKind::kProd}, {1, ops::ElementWiseKind::kSum}, {3, ops::ElementWiseKind::kPow}};
  for (const auto& [input, kind] : parts) {
    if (input >= node.inputs.size() || node.inputs[input] == ir::ValueId::kNone) continue;
    const ir::ValueId coefficients = TRY(aligned(graph, node.inputs[input], scale, x));
    y = TRY(graph.add_one(ops::ElementWise{kind}, {y, coefficients}));
  }
  return y;
}

}  // namespace kiln::passes
