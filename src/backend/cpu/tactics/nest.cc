#include "backend/cpu/tactics/nest.h"

#include <algorithm>

#include "backend/cpu/tactics/registry.h"
#include "tactics/chain.h"
#include "tactics/region.h"

namespace kiln::cpu {
namespace {

class NestTactic final : public Tactic {
 public:
  std::string_view name() const override { return "nest"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    auto chain = grow_chain(cx.graph, root);
    if (!chain) return std::unexpected(chain.error());
    Region region{chain->nodes, chain->leaves, {cx.graph.node(root).outputs[0]}, {}};
    region.data = to_record(chain->program);
    return region;
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
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

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    StepDraft draft{.executor = "cpu", .kernel = "nest", .payload = region.data};
    const TensorType& y = cx.graph.type(region.outputs[0]);
    for (size_t i = 0; i < region.inputs.size() && draft.in_place_input < 0; ++i)
      if (cx.graph.type(region.inputs[i]).same_type(y) && variant.inputs[i] == variant.outputs[0] &&
          !cx.graph.constant(region.inputs[i]))
        draft.in_place_input = static_cast<int>(i);
    return draft;
  }
};

}  // namespace

const Tactic& nest_tactic() {
  static const NestTactic tactic;
  return tactic;
}

}  // namespace kiln::cpu
