#include "passes/merge_reshapes.h"

#include "ops/expand.h"
#include "ops/reshape.h"
#include "ops/squeeze.h"
#include "ops/unsqueeze.h"
#include "passes/reshape_to.h"
#include "passes/rewrite.h"

namespace kiln::passes {
namespace {

bool keeps_order(const ir::Graph& graph, ir::NodeId id) {
  if (id == ir::NodeId::kNone) return false;
  const ir::Node& node = graph.node(id);
  if (node.op.as<ops::Reshape>() || node.op.as<ops::Squeeze>() || node.op.as<ops::Unsqueeze>()) return true;
  return node.op.as<ops::Expand>() && graph.type(node.inputs[0]).volume() == graph.type(node.outputs[0]).volume();
}

/// The first value of the chain of reshapes that ends with `value`.
ir::ValueId before_reshapes(const ir::Graph& graph, ir::ValueId value) {
  while (keeps_order(graph, graph.value(value).producer)) value = graph.node(graph.value(value).producer).inputs[0];
  return value;
}

/// Whether the node is already what `reshape_to` makes of x.
bool is_settled(const ir::Graph& graph, const ir::Node& node, ir::ValueId x) {
  const auto* reshape = node.op.as<ops::Reshape>();
  if (!reshape || node.inputs[0] != x || graph.type(x).shape == graph.type(node.outputs[0]).shape) return false;
  return !reshape->zero_is_placeholder;
}

/// The rule for one op of those.
template <class T>
Status merge_at_each(ir::Graph& graph) {
  const ir::Pattern reshape = ir::op<T>("y", ir::any("x"));
  return rewrite(graph, reshape, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    if (!keeps_order(found.graph(), found.node_id("y"))) return {};
    const ir::ValueId x = before_reshapes(found.graph(), found.value("x"));
    if (is_settled(found.graph(), found.node("y"), x)) return {};
    return patch.replace(found.value("y"), TRY(reshape_to(patch, x, found.type("y").shape)));
  });
}

}  // namespace

Status merge_reshapes(ir::Graph& graph, PassContext&) {
  TRY(merge_at_each<ops::Squeeze>(graph));
  TRY(merge_at_each<ops::Unsqueeze>(graph));
  TRY(merge_at_each<ops::Expand>(graph));
  return merge_at_each<ops::Reshape>(graph);
}

}  // namespace kiln::passes
