#include "backend/cpu/tactics/deconvolution.h"

#include "backend/cpu/tactics/registry.h"
#include "tactics/convolution.h"

namespace kiln::cpu {
namespace {

class DeconvolutionTactic final : public Tactic {
 public:
  std::string_view name() const override { return "deconvolution"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    auto found = match_epilogue(cx.graph, root, is_deconvolution, 1);
    if (!found) return std::unexpected(found.error());
    return static_filter_region(cx, root, *found);
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    return {
        contraction_variant(cx, region, "by phases", Format::channels_last(cx.graph.type(region.inputs[0]).rank()))};
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    StepDraft draft = cpu_step(TRY(deconvolution_step(cx, region)));
    draft.in_place_input = in_place_input(region);
    return draft;
  }
};

}  // namespace

const Tactic& deconvolution_tactic() { return the<DeconvolutionTactic>(); }

template <>
TacticList tactics_of<ops::Deconvolution>() {
  static const Tactic* const kList[] = {&deconvolution_tactic()};
  return kList;
}

}  // namespace kiln::cpu
