#include "tactics/nest.h"

#include <algorithm>

#include "tactics/chain.h"
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
  auto chain = grow_chain(cx.graph, root, has_type(cx));
  if (!chain) return std::unexpected(chain.error());
  return Region{std::move(chain->nodes),
                std::move(chain->leaves),
                {cx.graph.node(root).outputs[0]},
                to_record(steps::Nest{std::move(chain->program)})};
}

std::vector<Variant> NestRegions::variants(const TacticContext& cx, const Region& region) const {
  std::vector<Variant> result{linear_variant(region, "row-major")};
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
  return step_draft(TRY(step_of(region)), in_place_input(cx, region, variant));
}

}  // namespace kiln
