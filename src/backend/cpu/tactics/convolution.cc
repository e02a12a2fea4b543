#include "backend/cpu/tactics/convolution.h"

#include "backend/cpu/kernels/conv/banded.h"
#include "backend/cpu/kernels/conv/tuning.h"
#include "backend/cpu/kernels/winograd/winograd.h"
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

/// Whether few output channels make it worth while to compute several pixels as one row: kernels/conv/banded.h.
bool suits_bands(const steps::Convolution& step, const Region& region, const Extents& w) {
  const steps::Window& window = step.window;
  if (step.groups != 1 || window.dilations.back() != 1 || region.inputs[3] != ir::ValueId::kNone) return false;
  ConvWeights weights{w[1], w[0]};
  std::copy(window.kernel.begin(), window.kernel.end(), std::end(weights.kernel) - window.kernel.size());
  return banded_pixels(weights, window.strides.back()) > 1;
}

Match ConvolutionTactic::match(const TacticContext& cx, ir::NodeId root) const {
  return match_contraction(cx, root, is_convolution, 1, ResultOrder::kChannelsLast, static_filter_region);
}

std::vector<Variant> ConvolutionTactic::variants(const TacticContext& cx, const Region& region) const {
  const auto step = convolution_step(cx, region);
  CHECK(step.has_value());
  const steps::Window& window = step->window;
  const TensorType& x = cx.graph.type(region.inputs[0]);
  const Extents w = filter_of(cx, region);
  const int64_t channels = w[1] * step->groups;
  const Format last = Format::channels_last(x.rank());
  const auto make = [&](ConvFamily family, const Format& in) {
    Variant variant = contraction_variant(cx, region, str(family, in.is_linear() ? ", channels first" : ""), last);
    variant.inputs[0] = in;
    variant.params = to_record(ConvTuning{family});
    return variant;
  };
  if (step->groups == channels && w[0] == channels && channels > 1) return {make(ConvFamily::kDepthwise, last)};
  std::vector<Variant> result;
  const Extents ones(window.kernel.size(), 1);
  const bool plain =
      winograd_serves(window.kernel) && window.strides == ones && window.dilations == ones && step->groups == 1;
  if (plain && cx.numerics.tf32 && channels >= 8 && w[0] >= 8) result.push_back(make(ConvFamily::kWinograd, last));
  if (suits_bands(*step, region, w)) result.push_back(make(ConvFamily::kBanded, last));
  if (channels <= 4 && step->groups == 1) result.push_back(make(ConvFamily::kDirect, Format::linear()));
  result.push_back(make(ConvFamily::kDirect, last));
  return result;
}

Result<StepDraft> ConvolutionTactic::compile(const TacticContext& cx, const Region& region,
                                             const Variant& variant) const {
  StepDraft draft = cpu_step(TRY(convolution_step(cx, region)), TRY(from_record<ConvTuning>(variant.params)));
  draft.in_place_input = in_place_input(region);
  return draft;
}

}  // namespace

const Tactic& convolution_tactic() { return the<ConvolutionTactic>(); }

template <>
TacticList tactics_of<ops::Convolution>() {
  static const Tactic* const kList[] = {&convolution_tactic()};
  return kList;
}

}  // namespace kiln::cpu
