/// A depthwise convolution and the one of single pixels that makes its x, in one step.
#include "steps/pointwise_depthwise.h"

#include "backend/cpu/kernels/depthwise/row.h"
#include "backend/cpu/tactics/pointwise_depthwise.h"
#include "backend/cpu/tactics/registry.h"
#include "tactics/convolution.h"
#include "tactics/region.h"

namespace kiln::cpu {
namespace {

// Smaller results of the first convolution stay in cache as they are.
constexpr double kLeastBytesBetween = 1 << 18;

bool is_grouped_convolution(const Op& op) {
  const auto* convolution = op.as<ops::Convolution>();
  return convolution && convolution->groups > 1;
}

/// The two convolutions of a region, each with what follows it.
struct Pair {
  Region pointwise, depthwise;
};

std::expected<Pair, Reject> pair_at(const TacticContext& cx, ir::NodeId root) {
  const auto convolution_at = [&](ir::NodeId node, bool (*is)(const Op&)) {
    return match_contraction(cx, node, is, 1, ResultOrder::kChannelsLast, static_filter_region);
  };
  Match depthwise = convolution_at(root, is_grouped_convolution);
  if (!depthwise) return std::unexpected(depthwise.error());
  const ir::ValueId between = depthwise->inputs[0];
  const ir::NodeId maker = cx.graph.value(between).producer;
  if (maker == ir::NodeId::kNone || cx.graph.num_uses(between) != 1 || cx.graph.is_output(between))
    return reject("what the depthwise convolution reads is an input, or others read it, too");
  Match pointwise = convolution_at(maker, is_convolution);
  if (!pointwise) return std::unexpected(pointwise.error());
  return Pair{std::move(*pointwise), std::move(*depthwise)};
}

Result<steps::PointwiseDepthwise> step_of(const TacticContext& cx, const Pair& pair) {
  return steps::PointwiseDepthwise{TRY(convolution_step(cx, pair.pointwise)),
                                   TRY(convolution_step(cx, pair.depthwise))};
}

class PointwiseDepthwiseTactic final : public Tactic {
 public:
  std::string_view name() const override { return "two convolutions"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    auto pair = pair_at(cx, root);
    if (!pair) return std::unexpected(pair.error());
    const auto step = step_of(cx, *pair);
    if (!step) return reject(step.error().message);
    const TensorType& between = cx.graph.type(pair->depthwise.inputs[0]);
    const Extents first = filter_of(cx, pair->pointwise), second = filter_of(cx, pair->depthwise);
    if (between.rank() != 4 || !cx.graph.constant(pair->pointwise.inputs[1]) ||
        !cx.graph.constant(pair->depthwise.inputs[1]))
      return reject("the convolutions are not of pictures by constants, but of ", between);
    if (second[0] != first[0] || second[1] != 1 || step->depthwise.groups != second[0])
      return reject("weights ", second, " are not those of a depthwise convolution of ", first[0], " channels");
    if (const Status status = step->check(); !status) return reject(status.error().message);
    if (second[2] > kMostLines) return reject("a kernel of ", second[2], " rows; at most ", kMostLines, " are taken");
    const double bytes = estimated_bytes(between);
    if (bytes < kLeastBytesBetween)
      return reject("what lies between the convolutions takes ", bytes, " bytes, which stay in cache");
    Region region{pair->pointwise.nodes, pair->pointwise.inputs, pair->depthwise.outputs, to_record(*step)};
    region.nodes.insert(region.nodes.end(), pair->depthwise.nodes.begin(), pair->depthwise.nodes.end());
    region.inputs.insert(region.inputs.end(), pair->depthwise.inputs.begin() + 1, pair->depthwise.inputs.end());
    return region;
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    const auto pair = pair_at(cx, region.nodes.back());
    CHECK(pair.has_value());
    const Format last = Format::channels_last(4);
    Variant variant = contraction_variant(cx, pair->pointwise, "row by row", last);
    const Variant second = contraction_variant(cx, pair->depthwise, "", last);
    variant.inputs.insert(variant.inputs.end(), second.inputs.begin() + 1, second.inputs.end());
    return {std::move(variant)};
  }

  Result<StepDraft> compile(const TacticContext&, const Region& region, const Variant&) const override {
    return cpu_step(TRY(from_record<steps::PointwiseDepthwise>(region.data)));
  }
};

}  // namespace

const Tactic& pointwise_depthwise_tactic() { return the<PointwiseDepthwiseTactic>(); }

}  // namespace kiln::cpu
