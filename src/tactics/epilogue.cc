#include "tactics/epilogue.h"

#include <algorithm>

#include "ops/activation.h"
#include "ops/element_wise.h"
#include "tactics/region.h"

namespace kiln {
namespace {

class Matcher {
 public:
  Matcher(const ir::Graph& graph, bool (*is_contraction)(const Op&), int channel_axis)
      : graph_(graph), is_contraction_(is_contraction), channel_axis_(channel_axis) {}

  /// Whether the node, as the region's last, is a contraction with an epilogue.
  bool ends_at(ir::NodeId id) {
    const ir::Node& node = graph_.node(id);
    if (is_contraction_(node.op)) {
      found_.contraction = id;
      found_.nodes.push_back(id);
      return true;
    }
    if (const auto* activation = node.op.as<ops::Activation>()) return clamps(id, *activation);
    if (const auto* sum = node.op.as<ops::ElementWise>(); sum && sum->kind == ops::ElementWiseKind::kSum)
      return adds(id);
    return false;
  }
  EpilogueMatch take() { return std::move(found_); }

 private:
  bool clamps(ir::NodeId id, const ops::Activation& activation) {
    const bool relu = activation.kind == ops::ActivationKind::kRelu;
    if ((!relu && activation.kind != ops::ActivationKind::kClip) || clamped_ || added_) return false;
    clamped_ = true;
    steps::Epilogue& epilogue = found_.epilogue;
    epilogue.lo = relu ? 0 : activation.alpha;
    if (!relu) epilogue.hi = activation.beta;
    return epilogue.lo <= epilogue.hi && inner(graph_.node(id).inputs[0]) && push(id);
  }

  bool adds(ir::NodeId id) {
    const ir::Node& node = graph_.node(id);
    added_ = true;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const ir::ValueId sum = node.inputs[side], other = node.inputs[1 - side];
      if (!graph_.type(sum).same_type(graph_.type(node.outputs[0]))) continue;
      const EpilogueMatch before = found_;
      if (is_bias(other) && found_.bias == ir::ValueId::kNone)
        found_.bias = other;
      else if (is_residual(other, node.outputs[0]) && found_.residual == ir::ValueId::kNone &&
               found_.bias == ir::ValueId::kNone)
        found_.residual = other;
      else
        continue;
      if (inner(sum)) return push(id);
      found_ = before;
    }
    return false;
  }

  /// Goes on above a value that only the region reads.
  bool inner(ir::ValueId value) {
    const ir::NodeId producer = graph_.value(value).producer;
    return producer != ir::NodeId::kNone && graph_.num_uses(value) == 1 && ends_at(producer);
  }
  bool push(ir::NodeId id) {
    found_.nodes.push_back(id);
    return true;
  }
  bool is_bias(ir::ValueId value) const {
    const HostTensor* constant = graph_.constant(value);
    if (!constant || !is_kernel_float(constant->dtype()) || constant->rank() == 0) return false;
    const int axis = channel_axis_ < 0 ? constant->rank() + channel_axis_ : channel_axis_;
    return axis < constant->rank() && constant->volume() == constant->extents()[static_cast<size_t>(axis)];
  }
  bool is_residual(ir::ValueId value, ir::ValueId output) const {
    return !graph_.constant(value) && graph_.type(value).same_type(graph_.type(output));
  }

  const ir::Graph& graph_;
  bool (*is_contraction_)(const Op&);
  int channel_axis_;
  EpilogueMatch found_;
  bool clamped_ = false, added_ = false;
};

}  // namespace

std::expected<EpilogueMatch, Reject> match_epilogue(const ir::Graph& graph, ir::NodeId root,
                                                    bool (*is_contraction)(const Op&), int channel_axis) {
  Matcher matcher(graph, is_contraction, channel_axis);
  if (!matcher.ends_at(root))
    return reject("no contraction with only a bias, a residual and a clamp behind it ends here");
  EpilogueMatch found = matcher.take();
  // A bias of one element where there are several channels is no vector of them: it is left to a nest.
  if (found.bias != ir::ValueId::kNone) {
    const TensorType& y = graph.output_type(found.contraction);
    const int axis = channel_axis < 0 ? y.rank() + channel_axis : channel_axis;
    if (sym::Expr(graph.constant(found.bias)->volume()) != y.shape[static_cast<size_t>(axis)])
      return reject("the bias has ", graph.constant(found.bias)->volume(), " elements for the channels of ", y);
  }
  return found;
}

Match contraction_region(const TacticContext& cx, ir::NodeId root, const EpilogueMatch& match) {
  const ir::Node& node = cx.graph.node(match.contraction);
  const TensorType& x = cx.graph.type(node.inputs[0]);
  if (!is_kernel_float(x.dtype)) return reject("the first input is ", x, "; kernels take f32, f16 and bf16");
  ir::ValueId bias = node.inputs.size() > 2 ? node.inputs[2] : ir::ValueId::kNone;
  if (bias != ir::ValueId::kNone && match.bias != ir::ValueId::kNone) return reject("there are two biases");
  if (bias == ir::ValueId::kNone) bias = match.bias;
  Region region{
      match.nodes, {node.inputs[0], node.inputs[1], bias, match.residual}, {cx.graph.node(root).outputs[0]}, {}};
  region.inputs.insert(region.inputs.end(), match.extras.begin(), match.extras.end());
  steps::Epilogue epilogue = match.epilogue;
  if (bias != ir::ValueId::kNone) epilogue.bias = cx.graph.type(bias).dtype;
  if (match.residual != ir::ValueId::kNone) epilogue.residual = cx.graph.type(match.residual).dtype;
  region.data.set("epilogue", to_record(epilogue));
  return region;
}

Result<steps::Epilogue> epilogue_of(const Region& region) {
  return from_record<steps::Epilogue>(TRY(region.data.get_record("epilogue")));
}

bool has_hook(const Region& region) {
  const Result<steps::Epilogue> epilogue = epilogue_of(region);
  return epilogue && epilogue->hook;
}

Variant contraction_variant(const TacticContext& cx, const Region& region, std::string name, const Format& format,
                            double estimate_us) {
  Variant variant{std::move(name), {format, {}, {}, format}, {format}, {}, estimate_us};
  for (size_t i = steps::Epilogue::kHook; i < region.inputs.size(); ++i) {
    const ir::ValueId input = region.inputs[i];
    const bool whole = input != ir::ValueId::kNone && !cx.graph.constant(input) &&
                       cx.graph.type(input).shape == cx.graph.type(region.outputs[0]).shape;
    variant.inputs.push_back(whole ? format : Format::linear());
  }
  return variant;
}

int in_place_input(const Region& region) {
  constexpr size_t kResidual = steps::Epilogue::kResidual;
  return region.inputs[kResidual] != ir::ValueId::kNone ? static_cast<int>(kResidual) : -1;
}

}  // namespace kiln
