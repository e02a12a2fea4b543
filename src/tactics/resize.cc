#include "tactics/resize.h"

#include "sym/unbounded.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"

namespace kiln {
Extents planned_extents(const TensorType& type) {
  Extents result;
  for (const sym::Expr& e : type.shape) result.push_back(sym::grows_without_bound(e) ? e.opt() : e.max());
  return result;
}

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

Match ResizeRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const ir::Node& node = cx.graph.node(root);
  const bool roi = node.input(2) != ir::ValueId::kNone, scales = node.input(3) != ir::ValueId::kNone;
  const Status taken = check({.op = *node.op.as<ops::Resize>(),
                              .x = cx.graph.type(node.inputs[0]),
                              .y = cx.graph.type(node.outputs[0]),
                              .sizes = node.input(1) != ir::ValueId::kNone,
                              .roi = roi,
                              .scales = scales,
                              .resized = may_be_resized(cx.graph, root)});
  if (!taken) return reject(taken.error().message);
  Region region{{root}, {node.inputs[0]}, {node.outputs[0]}, {}};
  if (roi || scales)
    for (const size_t i : {2, 3}) region.inputs.push_back(node.input(i));
  return region;
}

std::vector<Variant> ResizeRegions::variants(const TacticContext& cx, const Region& region) const {
  std::vector<Variant> result{linear_variant(region, "row-major")};
  // Scales that come at run time must fit the extents. The timer's made-up scales would not, so nothing can be timed.
  if (region.inputs.size() > 1) return result;
  const Format last = Format::channels_last(cx.graph.type(region.inputs[0]).rank());
  if (!last.is_linear()) result.push_back({"channels last", {last}, {last}, {}, 0});
  return result;
}

steps::Resize ResizeRegions::step_of(const TacticContext& cx, const Region& region) {
  const ir::Node& node = cx.graph.node(region.nodes[0]);
  return {.op = *node.op.as<ops::Resize>(), .from_sizes = node.input(1) != ir::ValueId::kNone};
}

Result<StepDraft> ResizeRegions::draft(const TacticContext& cx, const Region& region, const Variant&) {
  return step_draft(step_of(cx, region));
}

}  // namespace kiln
