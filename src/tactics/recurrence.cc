#include "tactics/recurrence.h"

#include "ops/recurrence.h"
#include "steps/recurrence.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"

namespace kiln {

Match RecurrenceRegions::match(const TacticContext& cx, ir::NodeId root) const {
  using ops::Recurrence;
  const TensorType& x = cx.graph.input_type(root, 0);
  if (!is_kernel_float(x.dtype)) return reject("x is ", x, "; kernels take f32, f16 and bf16");
  const std::vector<ir::ValueId>& inputs = cx.graph.node(root).inputs;
  for (const auto& [i, name] : {std::pair(Recurrence::kW, "w"), std::pair(Recurrence::kR, "r"),
                                std::pair(Recurrence::kB, "b"), std::pair(Recurrence::kP, "p")}) {
    const auto at = static_cast<size_t>(i);
    if (at < inputs.size() && inputs[at] != ir::ValueId::kNone && !cx.graph.constant(inputs[at]))
      return reject(name, " is computed by the run; kernels pack it when they are loaded");
  }
  return single_node_region(cx.graph, root);
}

std::vector<Variant> RecurrenceRegions::variants(const TacticContext&, const Region& region) const {
  return {linear_variant(region, "packed")};
}

Result<StepDraft> RecurrenceRegions::draft(const TacticContext& cx, const Region& region, const Variant&) {
  return step_draft(steps::Recurrence{*cx.graph.node(region.nodes[0]).op.as<ops::Recurrence>()});
}

}  // namespace kiln
