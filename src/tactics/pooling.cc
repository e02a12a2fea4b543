#include "tactics/pooling.h"

#include "tactics/region.h"
#include "tactics/step_draft.h"
#include "tactics/window.h"

namespace kiln {

Match PoolingRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const TensorType& x = cx.graph.input_type(root, 0);
  const std::string why = why_not(cx.graph.node(root).op.as<ops::Pooling>()->kind, x.dtype);
  if (!why.empty()) return reject("x is ", x, "; ", why);
  return single_node_region(cx.graph, root);
}

std::vector<Variant> PoolingRegions::variants(const TacticContext& cx, const Region& region) const {
  const Format last = Format::channels_last(cx.graph.type(region.inputs[0]).rank());
  return {{"channels last", {last}, {last}, {}, 0}, linear_variant(region, "channels first")};
}

steps::Pooling PoolingRegions::step_of(const TacticContext& cx, const Region& region) {
  const auto& op = *cx.graph.node(region.nodes[0]).op.as<ops::Pooling>();
  return {.kind = op.kind,
          .window = window_of(op, op.window),
          .post_pads = or_all(op.post_pads, op.window.size(), 0),
          .excludes_padding = op.average_excludes_padding,
          .blend = op.blend};
}

Result<StepDraft> PoolingRegions::draft(const TacticContext& cx, const Region& region, const Variant&) {
  return step_draft(step_of(cx, region));
}

}  // namespace kiln
