#include "tactics/softmax.h"

#include "ops/softmax.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"

namespace kiln {
namespace {

int axis_of(const TacticContext& cx, const Region& region) {
  const int rank = cx.graph.type(region.inputs[0]).rank();
  return *normalize_axis(cx.graph.node(region.nodes[0]).op.as<ops::Softmax>()->axis, rank);
}

}  // namespace

Match SoftmaxRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const TensorType& x = cx.graph.input_type(root, 0);
  if (!is_kernel_float(x.dtype)) return reject("x is ", x, "; the kernel takes f32, f16 and bf16");
  return single_node_region(cx.graph, root);
}

std::vector<Variant> SoftmaxRegions::variants(const TacticContext& cx, const Region& region) const {
  std::vector<Variant> result{linear_variant(region, "row-major")};
  // Along the channels of a channels-last tensor the lanes are contiguous.
  const int rank = cx.graph.type(region.inputs[0]).rank();
  const Format last = Format::channels_last(rank);
  if (rank >= 3 && axis_of(cx, region) == 1) result.push_back({"channels last", {last}, {last}, {}, 0});
  return result;
}

steps::Softmax SoftmaxRegions::step_of(const TacticContext& cx, const Region& region, const Variant& variant) {
  const int rank = cx.graph.type(region.inputs[0]).rank();
  return {.axis = variant.inputs[0].is_linear() ? axis_of(cx, region) : rank - 1};
}

Result<StepDraft> SoftmaxRegions::draft(const TacticContext& cx, const Region& region, const Variant& variant) {
  return step_draft(step_of(cx, region, variant), 0);
}

}  // namespace kiln
