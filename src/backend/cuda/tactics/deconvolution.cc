#include "backend/cuda/tactics/deconvolution.h"

#include "backend/cuda/tactics/filter_convolution.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/convolution.h"

namespace kiln::cuda {
namespace {

class DeconvolutionTactic final : public Tactic {
 public:
  std::string_view name() const override { return "deconvolution"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    return checked(
        cx, match_contraction(cx, root, is_deconvolution, 1, ResultOrder::kChannelsLast, static_filter_region, true));
  }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    const auto step = deconvolution_step(cx, region);
    CHECK(step.has_value());
    return filter_variants(cx, region, Filter(*step));
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    return compile_filter(cx, region, variant, TRY(deconvolution_step(cx, region)));
  }
};

}  // namespace

const Tactic& deconvolution_tactic() { return the<DeconvolutionTactic>(); }

template <>
TacticList tactics_of<ops::Deconvolution>() {
  static const Tactic* const kList[] = {&deconvolution_tactic()};
  return kList;
}

}  // namespace kiln::cuda
