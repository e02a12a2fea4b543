#include "tactics/movement/scatter.h"

#include "ops/scatter.h"
#include "steps/scatter.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"

namespace kiln {

Match ScatterRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const auto& op = *cx.graph.node(root).op.as<ops::Scatter>();
  const TensorType& data = cx.graph.input_type(root, 0);
  if (bits_of(data.dtype) < 8) return reject("data is ", data, "; elements of less than a byte are not moved");
  if (!can_scatter(op.reduction, data.dtype))
    return reject("reduction ", enum_names(op.reduction)[static_cast<size_t>(op.reduction)], " of ", data,
                  ": kernels reduce f32, f16, bf16, i32 and i64");
  return single_node_region(cx.graph, root);
}

std::vector<Variant> ScatterRegions::variants(const TacticContext&, const Region& region) const {
  return {linear_variant(region, "row-major")};
}

Result<StepDraft> ScatterRegions::draft(const TacticContext& cx, const Region& region, const Variant&) {
  return step_draft(steps::Scatter{*cx.graph.node(region.nodes[0]).op.as<ops::Scatter>()});
}

}  // namespace kiln
