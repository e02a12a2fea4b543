#include "tactics/reduce.h"

#include <algorithm>

#include "tactics/region.h"
#include "tactics/step_draft.h"

namespace kiln {
namespace {

/// A format with the kept axes in front and the reduced ones behind. The kept axes stay in their order, so that the
/// result is row-major.
Format reduced_last(const steps::Reduce& step, int rank) {
  std::vector<int> order;
  for (int axis = 0; axis < rank; ++axis)
    if (!std::ranges::binary_search(step.axes, axis)) order.push_back(axis);
  order.insert(order.end(), step.axes.begin(), step.axes.end());
  return Format::permuted(order);
}

}  // namespace

steps::Reduce reduce_step(const ir::Graph& graph, ir::NodeId node, const Format& format) {
  const auto& op = *graph.node(node).op.as<ops::Reduce>();
  const int rank = graph.input_type(node, 0).rank();
  steps::Reduce step{.kind = op.kind};
  for (int position = 0; position < rank; ++position)
    if (std::ranges::any_of(op.axes,
                            [&](int64_t axis) { return *normalize_axis(axis, rank) == format.axis_at(position); }))
      step.axes.push_back(position);
  return step;
}

Match ReduceRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const TensorType& x = cx.graph.input_type(root, 0);
  const steps::Reduce step = reduce_step(cx.graph, root, Format::linear());
  if (step.kind == ops::ReduceKind::kNone) return reject("there is no operation to reduce by");
  const std::string_view why = why_not(x.dtype, cx.graph.output_type(root).dtype);
  if (!why.empty()) return reject("x is ", x, "; ", why);
  if (step.axes.empty()) return reject("no axis is reduced");
  if (!moves_axes() && !step.are_neighbours()) return reject("axes ", step.axes, " of ", x, " are not neighbours");
  return single_node_region(cx.graph, root);
}

std::vector<Variant> ReduceRegions::variants(const TacticContext& cx, const Region& region) const {
  std::vector<Variant> result;
  const int rank = cx.graph.type(region.inputs[0]).rank();
  const steps::Reduce step = reduce_step(cx.graph, region.nodes[0], Format::linear());
  if (step.are_neighbours())
    result.push_back(linear_variant(region, "row-major"));
  else
    result.push_back({"reduced axes last", {reduced_last(step, rank)}, {Format::linear()}, {}, 0});
  if (rank < 3) return result;
  // All spatial axes reduced: what is left, [N, C, 1, ...] or [N, C], is the same in either format.
  const Format last = Format::channels_last(rank);
  const steps::Reduce moved = reduce_step(cx.graph, region.nodes[0], last);
  const bool keep = cx.graph.node(region.nodes[0]).op.as<ops::Reduce>()->keep;
  if (moved.are_neighbours() && moved.axes.front() == 1 && moved.axes.back() == rank - 2)
    result.push_back({"channels last", {last}, {keep ? last : Format::linear()}, {}, 0});
  return result;
}

Result<StepDraft> ReduceRegions::draft(const TacticContext& cx, const Region& region, const Variant& variant) {
  return step_draft(reduce_step(cx.graph, region.nodes[0], variant.inputs[0]));
}

}  // namespace kiln
