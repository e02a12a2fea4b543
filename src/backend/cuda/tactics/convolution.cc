#include "backend/cuda/tactics/convolution.h"

#include "backend/cuda/kernels/gemm/hopper.h"
#include "backend/cuda/tactics/byte_products.h"
#include "backend/cuda/tactics/cublaslt.h"
#include "backend/cuda/tactics/cudnn.h"
#include "backend/cuda/tactics/filter_convolution.h"
#include "backend/cuda/tactics/registry.h"
#include "ops/concatenation.h"
#include "tactics/convolution.h"

namespace kiln::cuda {
namespace {

Match match_convolution(const TacticContext& cx, ir::NodeId root) {
  return checked(
      cx, match_contraction(cx, root, is_convolution, 1, ResultOrder::kChannelsLast, static_filter_region, true));
}

/// Replaces the convolution's input by the two tensors that are joined to make it: one becomes the region's first
/// input, the other its last.
Match join_inputs(const TacticContext& cx, Region region) {
  const ir::Value& x = cx.graph.value(region.inputs[0]);
  if (x.producer == ir::NodeId::kNone) return reject("no node makes x");
  const ir::Node& node = cx.graph.node(x.producer);
  const auto* join = node.op.as<ops::Concatenation>();
  if (!join || node.inputs.size() != 2 || (join->axis != 1 && join->axis != 1 - x.type.rank()))
    return reject("x is not two tensors joined along their channels");
  if (x.users.size() != 1 || cx.graph.is_output(region.inputs[0])) return reject("others read x");
  if (cx.graph.node(region.nodes[0]).op.as<ops::Convolution>()->groups != 1) return reject("there are groups");
  if (types_of(cx, region).is_mixed()) return reject("w is FP32; kernels that join tensors take one type");
  const int64_t line = kLineBytes / (bits_of(x.type.dtype) / 8);
  for (const ir::ValueId part : node.inputs) {
    const sym::Expr& channels = cx.graph.type(part).shape[1];
    if (cx.graph.constant(part)) return reject("a part of x is constant");
    if (!channels.constant() || *channels.constant() % (part == node.inputs[0] ? line : 8) != 0)
      return reject("parts of x with ", cx.graph.type(part), " are not for lines of ", line, " channels");
  }
  region.inputs[0] = node.inputs[0];
  region.inputs.push_back(node.inputs[1]);
  region.nodes.insert(region.nodes.begin(), x.producer);
  return region;
}

class ConvolutionTactic final : public Tactic {
 public:
  explicit ConvolutionTactic(bool joined) : joined_(joined) {}
  std::string_view name() const override { return joined_ ? "joined convolution" : "convolution"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    Match region = match_convolution(cx, root);
    return region && joined_ ? join_inputs(cx, std::move(*region)) : region;
  }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    const auto step = convolution_step(cx, region);
    CHECK(step.has_value());
    return filter_variants(cx, region, Filter(*step));
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    return compile_filter(cx, region, variant, TRY(convolution_step(cx, region)));
  }

 private:
  bool joined_;
};

}  // namespace

const Tactic& convolution_tactic() {
  static const ConvolutionTactic tactic(/*joined=*/false);
  return tactic;
}
const Tactic& joined_convolution_tactic() {
  static const ConvolutionTactic tactic(/*joined=*/true);
  return tactic;
}

template <>
TacticList tactics_of<ops::Convolution>() {
  static const Tactic* const kList[] = {&byte_convolution_tactic(), &convolution_tactic(), &joined_convolution_tactic(),
                                        &cublaslt_point_tactic(), &cudnn_tactic()};
  return kList;
}

}  // namespace kiln::cuda
