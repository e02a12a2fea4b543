#include "tactics/nest.h"

#include <algorithm>

#include "tactics/byte_table.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"

namespace kiln {
namespace {

/// The index of an input whose memory the result may take, or -1.
int in_place_input(const TacticContext& cx, const Region& region, const Variant& variant) {
  const TensorType& y = cx.graph.type(region.outputs[0]);
  for (size_t i = 0; i < region.inputs.size(); ++i)
    if (cx.graph.type(region.inputs[i]).same_type(y) && variant.inputs[i] == variant.outputs[0] &&
        !cx.graph.constant(region.inputs[i]))
      return static_cast<int>(i);
  return -1;
}

}  // namespace

Match NestRegions::match(const TacticContext& cx, ir::NodeId root) const {
  auto chain = grow_chain(cx.graph, root, has_type(cx), reach_);
  if (chain && looks_up())
    if (const auto source = table_source(cx.graph, chain->nodes))
      chain = grow_chain(cx.graph, root, has_type(cx), reach_, *source);
  if (!chain) return std::unexpected(chain.error());
  steps::Nest step{std::move(chain->program), {}};
  std::vector<sym::Expr> params;
  for (size_t i = 0; i < chain->views.size(); ++i) {
    const auto& view = chain->views[i];
    if (!view) continue;
    step.views.push_back(static_cast<int64_t>(i));
    params.push_back(view->offset);
    params.insert(params.end(), view->strides.begin(), view->strides.end());
  }
  return Region{std::move(chain->nodes),
                std::move(chain->leaves),
                {cx.graph.node(root).outputs[0]},
                to_record(step),
                std::move(params)};
}

std::vector<Variant> NestRegions::variants(const TacticContext& cx, const Region& region) const {
  std::vector<Variant> result{linear_variant(region, "row-major")};
  if (reach_ == ChainReach::kViews) return result;
  const int rank = cx.graph.type(region.outputs[0]).rank();
  const Format last = Format::channels_last(rank);
  const auto follows = [&](ir::ValueId value) {
    return !cx.graph.constant(value) && cx.graph.type(value).rank() == rank;
  };
  if (last.is_linear() || !std::ranges::any_of(region.inputs, follows)) return result;
  Variant variant{"channels last", {}, {last}, {}, 0};
  for (const ir::ValueId input : region.inputs) variant.inputs.push_back(follows(input) ? last : Format::linear());
  result.push_back(std::move(variant));
  return result;
}

Result<StepDraft> NestRegions::draft(const TacticContext& cx, const Region& region, const Variant& variant) {
  steps::Nest step = TRY(step_of(region));
  // A view may read an element after another one took its place.
  const int in_place = step.views.empty() ? in_place_input(cx, region, variant) : -1;
  StepDraft result = step_draft(std::move(step), in_place);
  result.params = region.params;
  return result;
}

}  // namespace kiln
