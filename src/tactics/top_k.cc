#include "tactics/top_k.h"

#include "ops/top_k.h"
#include "steps/top_k.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"

namespace kiln {

Match TopKRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const ir::Node& node = cx.graph.node(root);
  const TensorType& x = cx.graph.type(node.inputs[0]);
  if (!has_sort_key(x.dtype)) return reject("x is ", x, "; kernels sort floats of FP32 and below, and integers");
  return Region{{root}, {node.inputs[0]}, node.outputs, {}};
}

std::vector<Variant> TopKRegions::variants(const TacticContext&, const Region& region) const {
  return {linear_variant(region, "row-major")};
}

Result<StepDraft> TopKRegions::draft(const TacticContext& cx, const Region& region, const Variant&) {
  const auto& op = *cx.graph.node(region.nodes[0]).op.as<ops::TopK>();
  const int rank = cx.graph.type(region.inputs[0]).rank();
  return step_draft(steps::TopK{.axis = TRY(normalize_axis(op.axis, rank)), .largest = op.largest});
}

}  // namespace kiln
