#include "backend/cuda/tactics/nest.h"

#include <algorithm>

#include "backend/cuda/compile/nest/nest.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/contraction.h"
#include "ops/cast.h"
#include "tactics/nest.h"

namespace kiln::cuda {
namespace {

/// The axes of a region at the profile's optimum or maximum. Maxima of extents that broadcast need not agree: an extent
/// that may be repeated but is not 1 is taken to be the output's.
Result<MergedAxes> axes_at(const TacticContext& cx, const Region& region, const steps::Nest& step,
                           const Variant& variant, Extents (TensorType::*extents)() const,
                           int64_t (sym::Expr::*value)() const) {
  std::vector<NestTensor> tensors;
  const Extents space = (cx.graph.type(region.outputs[0]).*extents)();
  std::vector<int64_t> params;
  for (const sym::Expr& param : region.params) params.push_back((param.*value)());
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    if (const auto view = step.view_of(i, space.size(), params)) {
      tensors.push_back({Format::linear(), {}, AxisStrides{}});
      std::ranges::copy(view->strides, tensors.back().view->begin());
      continue;
    }
    Extents own = (cx.graph.type(region.inputs[i]).*extents)();
    for (size_t axis = 1; axis <= std::min(own.size(), space.size()); ++axis)
      if (own[own.size() - axis] != 1) own[own.size() - axis] = space[space.size() - axis];
    tensors.push_back({variant.inputs[i], std::move(own), std::nullopt});
  }
  for (size_t i = 0; i < region.outputs.size(); ++i)
    tensors.push_back({variant.outputs[i], (cx.graph.type(region.outputs[i]).*extents)(), std::nullopt});
  return nest_axes(tensors, region.inputs.size());
}

class NestTactic final : public NestRegions {
 public:
  using NestRegions::NestRegions;
  /// Conversions of FP8 are instructions from compute capability 8.9 on.
  bool (*has_type(const TacticContext& cx) const)(DType) override {
    return machine_of(device_of(cx).properties()).compute >= 89 ? is_device_nest_type : is_nest_type;
  }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result = NestRegions::variants(cx, region);
    // At inputs and outputs a cast often stands beside a reformat. One kernel does both.
    if (result.size() > 1 && region.nodes.size() == 1 && cx.graph.node(region.nodes[0]).op.as<ops::Cast>()) {
      const Format last = result[1].outputs[0];
      result.push_back({"to channels last", {Format::linear()}, {last}, {}, 0});
      result.push_back({"from channels last", {last}, {Format::linear()}, {}, 0});
    }
    return result;
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const steps::Nest step = TRY(step_of(region));
    const MergedAxes most = TRY(axes_at(cx, region, step, variant, &TensorType::max_extents, &sym::Expr::max));
    const MergedAxes optimum = TRY(axes_at(cx, region, step, variant, &TensorType::opt_extents, &sym::Expr::opt));
    NestTuning tuning;
    const auto add = [&](NestVariant kernel) {
      kernel.wide = !is_narrow(most);
      const auto alike = std::ranges::find_if(tuning.variants, [&](const NestVariant& other) {
        return other.width == kernel.width && other.lies == kernel.lies;
      });
      if (alike == tuning.variants.end())
        tuning.variants.push_back(std::move(kernel));
      else
        alike->unroll = std::max(alike->unroll, kernel.unroll);
    };
    add(best_variant(step.program, optimum));
    add(best_variant(step.program, most));
    add(plain_variant(step.program, false));  // runs every shape, wherever its tensors lie
    StepDraft result = cuda_step(TRY(draft(cx, region, variant)), tuning);
    const NestRounding rounding = cx.numerics.strongly_typed ? NestRounding::kEveryResult : NestRounding::kStores;
    result.binary = TRY(compile_kernel(cx, nest_kernels(step.program, tuning.variants, rounding)));
    return result;
  }
};

}  // namespace

const Tactic& nest_tactic() {
  static const NestTactic tactic;
  return tactic;
}
const Tactic& nest_of_views_tactic() {
  static const NestTactic tactic(ChainReach::kViews);
  return tactic;
}

}  // namespace kiln::cuda
