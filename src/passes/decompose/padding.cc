/// Padding: a slice that starts before and ends behind its input, filled with zeros.
#include "ops/padding.h"
#include "ops/dim_values.h"
#include "ops/slice.h"
#include "passes/decompose/decompose.h"

namespace kiln::passes {

Result<ir::ValueId> decompose_padding(ir::Graph& graph, ir::NodeId id) {
  const ir::Node node = graph.node(id);
  const ops::Padding& padding = *node.op.as<ops::Padding>();
  const TensorType x = graph.input_type(id, 0), y = graph.output_type(id);
  std::vector<sym::Expr> starts(x.shape.size(), 0);
  const size_t first = x.shape.size() - padding.pre.size();
  for (size_t i = 0; i < padding.pre.size(); ++i) starts[first + i] = -padding.pre[i];
  const auto vector = [&](std::vector<sym::Expr> values) {
    const auto count = static_cast<int64_t>(values.size());
    return graph.add_one(ops::DimValues{std::move(values), DType::kI64, {count}}, {});
  };
  const ir::ValueId start = TRY(vector(std::move(starts))), size = TRY(vector(y.shape));
  return graph.add_one(ops::Slice{.mode = SliceMode::kFill}, {node.inputs[0], start, size});
}

}  // namespace kiln::passes
