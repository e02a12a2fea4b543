/// Scale: a product, a sum and a power, each left out where its coefficients are absent.
#include "ops/scale.h"
#include "ops/cast.h"
#include "ops/element_wise.h"
#include "ops/reshape.h"
#include "passes/decompose/decompose.h"

namespace kiln::passes {
namespace {

/// The coefficients in x's rank: 1 along axes that share them.
Result<ir::ValueId> aligned(ir::Graph& graph, ir::ValueId coefficients, const ops::Scale& scale, const TensorType& x) {
  std::vector<int64_t> dims(x.shape.size(), 1);
  const int axis = TRY(normalize_axis(scale.channel_axis, x.rank()));
  for (int i = axis; i < x.rank() && scale.mode != ops::ScaleMode::kUniform; ++i) {
    if (scale.mode == ops::ScaleMode::kChannel && i != axis) break;
    const auto extent = x.shape[static_cast<size_t>(i)].constant();
    TRY(require(extent.has_value(), "axis ", i, " of ", x, " is dynamic; Scale's coefficients need it constant"));
    dims[static_cast<size_t>(i)] = *extent;
  }
  const ir::ValueId reshaped =
      TRY(graph.add_one(ops::Reshape{.dims = dims, .zero_is_placeholder = false}, {coefficients}));
  if (graph.type(reshaped).dtype == x.dtype) return reshaped;
  return graph.add_one(ops::Cast{x.dtype}, {reshaped});
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
