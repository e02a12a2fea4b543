#include "tactics/cumulative.h"

#include "ops/cumulative.h"
#include "steps/cumulative.h"
#include "tactics/host_values.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"
#include "tensor/compute_types.h"

namespace kiln {

Match CumulativeRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const ir::Node& node = cx.graph.node(root);
  const TensorType& x = cx.graph.type(node.inputs[0]);
  if (!is_compute_float(x.dtype) && !is_index(x.dtype))
    return reject("x is ", x, "; kernels take f32, f16, bf16, f64, i32 and i64");
  return Region{{root}, {node.inputs[0]}, node.outputs, {}};
}

std::vector<Variant> CumulativeRegions::variants(const TacticContext&, const Region& region) const {
  return {linear_variant(region, "row-major")};
}

Result<StepDraft> CumulativeRegions::draft(const TacticContext& cx, const Region& region, const Variant&) {
  const ir::Node& node = cx.graph.node(region.nodes[0]);
  const auto& op = *node.op.as<ops::Cumulative>();
  const SymbolicValues given = host_values(cx.graph, node, 1);
  const int axis =
      TRY(normalize_axis(given.empty() ? op.axis : given[0].value(), cx.graph.type(region.inputs[0]).rank()));
  return step_draft(
      steps::Cumulative{.operation = op.operation, .axis = axis, .exclusive = op.exclusive, .reverse = op.reverse});
}

}  // namespace kiln
