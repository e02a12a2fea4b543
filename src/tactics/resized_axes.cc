#include "tactics/resized_axes.h"

#include "ops/resize.h"

namespace kiln {

std::vector<bool> may_be_resized(const ir::Graph& graph, ir::NodeId node) {
  const ir::Node& n = graph.node(node);
  std::vector<TensorType> inputs;
  for (size_t i = 0; i < n.inputs.size(); ++i)
    inputs.push_back(n.inputs[i] == ir::ValueId::kNone ? TensorType() : graph.type(n.inputs[i]));
  const auto& resize = *n.op.as<ops::Resize>();
  const TensorType &x = inputs[0], &y = graph.type(n.outputs[0]);
  std::vector<bool> result;
  for (size_t axis = 0; axis < x.shape.size(); ++axis) {
    const bool one = x.shape[axis] == sym::Expr(1) && y.shape[axis] == sym::Expr(1);
    result.push_back(!one && !resize.keeps(axis, inputs));
  }
  return result;
}

}  // namespace kiln
