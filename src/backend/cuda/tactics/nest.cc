#include "backend/cuda/tactics/nest.h"

#include <algorithm>

#include "backend/cuda/kernels/nest/nest.h"
#include "backend/cuda/tactics/compile.h"
#include "ops/cast.h"
#include "tactics/chain.h"
#include "tactics/region.h"

namespace kiln::cuda {
namespace {

/// The axes of a region at the profile's optimum or maximum. Maxima of extents that broadcast need not agree: where one
/// may be repeated but is not 1, it is taken for the output's.
Result<MergedAxes> axes_at(const TacticContext& cx, const Region& region, const Variant& variant,
                           Extents (TensorType::*extents)() const) {
  std::vector<NestTensor> tensors;
  const Extents space = (cx.graph.type(region.outputs[0]).*extents)();
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    Extents own = (cx.graph.type(region.inputs[i]).*extents)();
    for (size_t axis = 1; axis <= std::min(own.size(), space.size()); ++axis)
      if (own[own.size() - axis] != 1) own[own.size() - axis] = space[space.size() - axis];
    tensors.push_back({variant.inputs[i], std::move(own)});
  }
  for (size_t i = 0; i < region.outputs.size(); ++i)
    tensors.push_back({variant.outputs[i], (cx.graph.type(region.outputs[i]).*extents)()});
  return nest_axes(tensors, region.inputs.size());
}

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
    // At a network's surface a cast meets a reformat: one pass does both.
    const ir::Node& node = cx.graph.node(region.nodes[0]);
    if (region.nodes.size() == 1 && node.op.as<ops::Cast>()) {
      result.push_back({"to channels last", {Format::linear()}, {last}, {}, 0});
      result.push_back({"from channels last", {last}, {Format::linear()}, {}, 0});
    }
    return result;
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    StepDraft draft = cuda_step("nest");
    draft.payload = region.data;
    const TensorType& y = cx.graph.type(region.outputs[0]);
    for (size_t i = 0; i < region.inputs.size() && draft.in_place_input < 0; ++i)
      if (cx.graph.type(region.inputs[i]).same_type(y) && variant.inputs[i] == variant.outputs[0] &&
          !cx.graph.constant(region.inputs[i]))
        draft.in_place_input = static_cast<int>(i);

    const NestProgram program = TRY(from_record<NestProgram>(region.data));
    const MergedAxes most = TRY(axes_at(cx, region, variant, &TensorType::max_extents));
    std::vector<NestVariant> kernels;
    const auto add = [&](NestVariant kernel) {
      kernel.wide = !is_narrow(most);
      const auto alike = std::ranges::find_if(
          kernels, [&](const NestVariant& other) { return other.width == kernel.width && other.lies == kernel.lies; });
      if (alike != kernels.end()) {
        alike->unroll = std::max(alike->unroll, kernel.unroll);
        return;
      }
      kernels.push_back(std::move(kernel));
    };
    add(best_variant(program, TRY(axes_at(cx, region, variant, &TensorType::opt_extents))));
    add(best_variant(program, most));
    add(plain_variant(program, false));  // runs every shape, wherever its tensors lie
    Datum::List records;
    for (const NestVariant& kernel : kernels) records.emplace_back(kernel.record());
    draft.payload.set("variants", std::move(records));
    const NestRounding rounding = cx.numerics.strongly_typed ? NestRounding::kEveryResult : NestRounding::kStores;
    draft.binary = TRY(compile_kernel(cx, nest_kernels(program, kernels, rounding)));
    return draft;
  }
};

}  // namespace

const Tactic& nest_tactic() {
  static const NestTactic tactic;
  return tactic;
}

}  // namespace kiln::cuda
