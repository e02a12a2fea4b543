#include "tactics/movement/expand.h"

#include "steps/expand.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"

namespace kiln {

Match ExpandRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const ir::Node& node = cx.graph.node(root);
  const TensorType& x = cx.graph.type(node.inputs[0]);
  if (bits_of(x.dtype) < 8) return reject("x is ", x, "; elements of less than a byte are not moved");
  return Region{{root}, {node.inputs[0]}, {node.outputs[0]}, {}};
}

std::vector<Variant> ExpandRegions::variants(const TacticContext&, const Region& region) const {
  return {linear_variant(region, "copy")};
}

Result<StepDraft> ExpandRegions::draft(const TacticContext&, const Region&, const Variant&) {
  return step_draft(steps::Expand{});
}

}  // namespace kiln
