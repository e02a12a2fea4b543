#include "tactics/movement/concatenation.h"

#include "ops/concatenation.h"
#include "steps/concatenation.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"

namespace kiln {

Match ConcatenationRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const TensorType& y = cx.graph.output_type(root);
  if (bits_of(y.dtype) < 8) return reject("y is ", y, "; elements of less than a byte are not moved");
  return single_node_region(cx.graph, root);
}

std::vector<Variant> ConcatenationRegions::variants(const TacticContext& cx, const Region& region) const {
  std::vector<Variant> result{linear_variant(region, "row-major")};
  const Format last = Format::channels_last(cx.graph.type(region.outputs[0]).rank());
  if (last.is_linear()) return result;
  Variant variant{"channels last", {}, {last}, {}, 0};
  for (const ir::ValueId input : region.inputs) {
    if (cx.graph.constant(input)) return result;  // constants are stored row-major
    variant.inputs.push_back(last);
  }
  result.push_back(std::move(variant));
  return result;
}

Result<int> ConcatenationRegions::position_of_axis(const TacticContext& cx, const Region& region,
                                                   const Variant& variant) {
  const int rank = cx.graph.type(region.outputs[0]).rank();
  const int axis = TRY(normalize_axis(cx.graph.node(region.nodes[0]).op.as<ops::Concatenation>()->axis, rank));
  int position = 0;
  while (variant.outputs[0].axis_at(position) != axis) ++position;
  return position;
}

Result<StepDraft> ConcatenationRegions::draft(const TacticContext& cx, const Region& region, const Variant& variant) {
  return step_draft(steps::Concatenation{.axis = TRY(position_of_axis(cx, region, variant))});
}

}  // namespace kiln
