#include "tactics/fill.h"

#include "ops/dim_values.h"
#include "steps/fill.h"
#include "steps/values.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"

namespace kiln {

Match FillRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const ir::Node& node = cx.graph.node(root);
  const TensorType& y = cx.graph.type(node.outputs[0]);
  const std::string_view why = why_not(node.op.as<ops::Fill>()->operation, y.dtype);
  if (!why.empty()) return reject("y is ", y, "; ", why);
  return Region{{root}, {node.input(1), node.input(2)}, {node.outputs[0]}, {}};  // its shape is the output's
}

std::vector<Variant> FillRegions::variants(const TacticContext&, const Region& region) const {
  return {linear_variant(region, "row-major")};
}

Result<StepDraft> FillRegions::draft(const TacticContext& cx, const Region& region, const Variant&) {
  return step_draft(steps::Fill{*cx.graph.node(region.nodes[0]).op.as<ops::Fill>()});
}

Match ValuesRegions::match(const TacticContext& cx, ir::NodeId root) const {
  return single_node_region(cx.graph, root);
}

std::vector<Variant> ValuesRegions::variants(const TacticContext&, const Region& region) const {
  return {linear_variant(region, "")};
}

Result<StepDraft> ValuesRegions::draft(const TacticContext& cx, const Region& region, const Variant&) {
  StepDraft draft = step_draft(steps::Values{});
  draft.params = cx.graph.node(region.nodes[0]).op.as<ops::DimValues>()->values;
  return draft;
}

}  // namespace kiln
