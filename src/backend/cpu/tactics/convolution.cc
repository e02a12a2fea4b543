#include "backend/cpu/tactics/convolution.h"

#include "backend/cpu/kernels/conv/family.h"
#include "backend/cpu/tactics/byte_products.h"
#include "backend/cpu/tactics/pointwise_depthwise.h"
#include "backend/cpu/tactics/registry.h"
#include "tactics/convolution.h"

namespace kiln::cpu {
namespace {

class ConvolutionTactic final : public Tactic {
 public:
  std::string_view name() const override { return "convolution"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override;
};

Match ConvolutionTactic::match(const TacticContext& cx, ir::NodeId root) const {
  return match_contraction(cx, root, is_convolution, 1, ResultOrder::kChannelsLast, static_filter_region);
}

std::vector<Variant> ConvolutionTactic::variants(const TacticContext& cx, const Region& region) const {
  const auto step = convolution_step(cx, region);
  CHECK(step.has_value());
  const ConvProblem problem{.window = step->window,
                            .weights = ConvWeights::of(filter_of(cx, region), step->groups),
                            .residual = step->epilogue.residual.has_value(),
                            .tf32 = cx.numerics.tf32};
  const Format last = Format::channels_last(cx.graph.type(region.inputs[0]).rank());
  std::vector<Variant> result;
  const auto add = [&](const ConvFamily& family, const Format& in, const Format& out) {
    result.push_back(contraction_variant(
        cx, region,
        str(family.name, in.is_linear() ? ", channels first" : "", out.is_linear() ? ", to channels first" : ""),
        last));
    result.back().inputs[0] = in;
    result.back().outputs[0] = out;
    result.back().params = to_record(ConvTuning{&family});
  };
  // Copies within the step: as slow as reformats, and not wanted but for what may have none.
  const bool from_surface = cx.is_direct && cx.graph.value(region.inputs[0]).producer == ir::NodeId::kNone;
  const bool to_surface = cx.is_direct && cx.graph.is_output(region.outputs[0]);
  for (const ConvFamily* family : kConvFamilies) {
    if (!family->serves(problem) || !family->suits(problem)) continue;
    const bool reads_first = family->picture_channels > 0 && step->groups == 1 &&
                             (from_surface || problem.weights.ic <= family->picture_channels);
    for (const bool to_first : {false, true}) {
      if (to_first && !to_surface) continue;
      const Format out = to_first ? Format::linear() : last;
      if (reads_first) add(*family, Format::linear(), out);
      add(*family, last, out);
    }
  }
  return result;
}

Result<StepDraft> ConvolutionTactic::compile(const TacticContext& cx, const Region& region,
                                             const Variant& variant) const {
  StepDraft draft = cpu_step(TRY(convolution_step(cx, region)), TRY(from_record<ConvTuning>(variant.params)));
  if (!variant.outputs[0].is_linear()) draft.in_place_input = in_place_input(region);
  return draft;
}

}  // namespace

const Tactic& convolution_tactic() { return the<ConvolutionTactic>(); }

template <>
TacticList tactics_of<ops::Convolution>() {
  static const Tactic* const kList[] = {&byte_convolution_tactic(), &pointwise_depthwise_tactic(),
                                        &convolution_tactic()};
  return kList;
}

}  // namespace kiln::cpu
