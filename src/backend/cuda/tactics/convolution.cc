#include "backend/cuda/tactics/convolution.h"

#include "backend/cuda/tactics/cublaslt.h"
#include "backend/cuda/tactics/cudnn.h"
#include "backend/cuda/tactics/filter_convolution.h"
#include "backend/cuda/tactics/registry.h"
#include "ops/convolution.h"
#include "tactics/hook.h"

namespace kiln::cuda {
namespace {

bool is_convolution(const Op& op) { return op.as<ops::Convolution>() != nullptr; }

Match region_of(const TacticContext& cx, ir::NodeId root, const EpilogueMatch& epilogue) {
  const TensorType& w = cx.graph.input_type(epilogue.contraction, 1);
  if (!w.is_static()) return reject("w is ", w, "; the kernel needs its extents when the plan is built");
  return contraction_region(cx, root, epilogue);
}

class ConvolutionTactic final : public Tactic {
 public:
  std::string_view name() const override { return "convolution"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    return checked(cx, match_contraction(cx, root, is_convolution, 1, ResultOrder::kChannelsLast, region_of, true));
  }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    return filter_variants(cx, region, spec_of(cx, region), op_of(cx, region).groups);
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    return compile_filter(cx, region, variant, spec_of(cx, region), op_of(cx, region).groups);
  }

 private:
  static const ops::Convolution& op_of(const TacticContext& cx, const Region& region) {
    return *cx.graph.node(region.nodes[0]).op.as<ops::Convolution>();
  }
  static FilterSpec spec_of(const TacticContext& cx, const Region& region) {
    return filter_spec(op_of(cx, region), *cx.graph.type(region.inputs[1]).extents(), /*transposed=*/false);
  }
};

}  // namespace

const Tactic& convolution_tactic() {
  static const ConvolutionTactic tactic;
  return tactic;
}

template <>
TacticList tactics_of<ops::Convolution>() {
  static const Tactic* const kList[] = {&convolution_tactic(), &cublaslt_point_tactic(), &cudnn_tactic()};
  return kList;
}

}  // namespace kiln::cuda
