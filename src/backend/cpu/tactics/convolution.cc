#include "backend/cpu/tactics/convolution.h"

#include "backend/cpu/kernels/conv/banded.h"
#include "backend/cpu/tactics/filter_window.h"
#include "backend/cpu/tactics/registry.h"
#include "ops/convolution.h"
#include "tactics/hook.h"

namespace kiln::cpu {
namespace {

constexpr size_t kFixedInputs = 4;  // before the hook's operands

bool is_convolution(const Op& op) { return op.as<ops::Convolution>() != nullptr; }

class ConvolutionTactic final : public Tactic {
 public:
  std::string_view name() const override { return "convolution"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override;
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override;
};

const ops::Convolution& op_of(const TacticContext& cx, const Region& region) {
  return *cx.graph.node(region.nodes[0]).op.as<ops::Convolution>();
}

Match region_of(const TacticContext& cx, ir::NodeId root, const EpilogueMatch& epilogue) {
  const TensorType& w = cx.graph.input_type(epilogue.contraction, 1);
  if (!w.is_static()) return reject("w is ", w, "; the kernel needs its extents when the plan is built");
  return contraction_region(cx, root, epilogue);
}

/// Whether few output channels make it worth while to compute several pixels as one row: kernels/conv/banded.h.
bool suits_bands(const ops::Convolution& op, const WindowSpec& window, const Region& region, const Extents& w) {
  if (op.groups != 1 || window.dilations.back() != 1 || region.inputs[3] != ir::ValueId::kNone) return false;
  ConvWeights weights{w[1], w[0]};
  std::copy(window.kernel.begin(), window.kernel.end(), std::end(weights.kernel) - window.kernel.size());
  return banded_pixels(weights, window.strides.back()) > 1;
}

Match ConvolutionTactic::match(const TacticContext& cx, ir::NodeId root) const {
  return match_contraction(cx, root, is_convolution, 1, ResultOrder::kChannelsLast, region_of);
}

std::vector<Variant> ConvolutionTactic::variants(const TacticContext& cx, const Region& region) const {
  const ops::Convolution& op = op_of(cx, region);
  const TensorType& x = cx.graph.type(region.inputs[0]);
  const Extents w = *cx.graph.type(region.inputs[1]).extents();
  const int64_t channels = w[1] * op.groups;
  const Format last = Format::channels_last(x.rank());
  const auto make = [&](std::string_view family, const Format& in) {
    Variant variant{str(family, in.is_linear() ? ", channels first" : ""), {in, {}, {}, last}, {last}, {}, 0};
    for (size_t i = kFixedInputs; i < region.inputs.size(); ++i) {
      const bool whole = cx.graph.type(region.inputs[i]).shape == cx.graph.type(region.outputs[0]).shape;
      variant.inputs.push_back(whole && !cx.graph.constant(region.inputs[i]) ? last : Format::linear());
    }
    variant.params.set("family", family);
    return variant;
  };
  if (op.groups == channels && w[0] == channels && channels > 1) return {make("depthwise", last)};
  std::vector<Variant> result;
  const WindowSpec window = window_spec(op, Extents(w.begin() + 2, w.end()));
  const bool plain = x.rank() == 4 && window.kernel == Extents{3, 3} && window.strides == Extents{1, 1} &&
                     window.dilations == Extents{1, 1} && op.groups == 1;
  if (plain && cx.numerics.tf32 && channels >= 8 && w[0] >= 8) result.push_back(make("winograd", last));
  if (suits_bands(op, window, region, w)) result.push_back(make("banded", last));
  if (channels <= 4 && op.groups == 1) result.push_back(make("direct", Format::linear()));
  result.push_back(make("direct", last));
  return result;
}

Result<StepDraft> ConvolutionTactic::compile(const TacticContext& cx, const Region& region,
                                             const Variant& variant) const {
  const ops::Convolution& op = op_of(cx, region);
  const Extents w = TRY(cx.graph.type(region.inputs[1]).extents());
  StepDraft draft{.executor = "cpu", .kernel = "convolution"};
  draft.payload = window_spec(op, Extents(w.begin() + 2, w.end())).record();
  draft.payload.set("groups", op.groups).set("family", TRY(variant.params.get_text("family")));
  TRY(add_epilogue(draft, region));
  return draft;
}

}  // namespace

const Tactic& convolution_tactic() {
  static const ConvolutionTactic tactic;
  return tactic;
}

template <>
TacticList tactics_of<ops::Convolution>() {
  static const Tactic* const kList[] = {&convolution_tactic()};
  return kList;
}

}  // namespace kiln::cpu
