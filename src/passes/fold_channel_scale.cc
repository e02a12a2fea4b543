#include "passes/fold_channel_scale.h"

#include <optional>

#include "ops/cast.h"
#include "ops/convolution.h"
#include "ops/deconvolution.h"
#include "ops/element_wise.h"
#include "ops/fold.h"

namespace kiln::passes {
namespace {

/// A vector of one number a channel (axis 1 of `output`), or of one for all, if `value` is a constant that broadcasts
/// so.
std::optional<ops::Constant> per_channel(const ir::Graph& graph, ir::ValueId value, const TensorType& output,
                                         int64_t channels) {
  const auto* constant = graph.producer_as<ops::Constant>(value);
  if (!constant || constant->value.rank() != output.rank()) return std::nullopt;
  const Extents& extents = constant->value.extents();
  for (size_t axis = 0; axis < extents.size(); ++axis)
    if (axis != 1 && extents[axis] != 1) return std::nullopt;
  const int64_t volume = constant->value.volume();
  if (volume != 1 && volume != channels) return std::nullopt;
  return reshaped(*constant, {volume});
}

/// A filter (convolution or deconvolution) with constant weights whose output only `user` reads.
struct Filter {
  ir::NodeId node;
  int64_t channels;  ///< of its output
  int64_t groups;
  bool transposed;
};

std::optional<Filter> filter_behind(const ir::Graph& graph, ir::ValueId value) {
  const ir::NodeId id = graph.value(value).producer;
  if (id == ir::NodeId::kNone || graph.num_uses(value) != 1) return std::nullopt;
  const ir::Node& node = graph.node(id);
  const auto* conv = node.op.as<ops::Convolution>();
  const auto* deconv = node.op.as<ops::Deconvolution>();
  const HostTensor* w = (conv || deconv) ? graph.constant(node.inputs[1]) : nullptr;
  if (!w || w->dtype() != DType::kF32 || w->volume() == 0) return std::nullopt;
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != ir::ValueId::kNone;
  if (has_bias && !graph.constant(node.inputs[2])) return std::nullopt;
  if (conv) return Filter{id, w->extents()[0], conv->groups, false};
  return Filter{id, w->extents()[1] * deconv->groups, deconv->groups, true};
}

/// a (kind) b, broadcast, in FP32. What they were is exact in FP32: halves beside weights that are floats.
Result<ops::Constant> combined(ops::ElementWiseKind kind, ops::Constant a, ops::Constant b) {
  for (ops::Constant* one : {&a, &b})
    if (one->value.dtype() != DType::kF32) *one = TRY(fold_one(ops::Cast{DType::kF32}, {one}));
  return fold_one(ops::ElementWise{kind}, {&a, &b});
}

Status combine_bias(ir::Graph& graph, const Filter& filter, ops::ElementWiseKind kind, const ops::Constant& numbers) {
  const ir::ValueId old = graph.node(filter.node).input(2);
  const ops::Constant bias = old != ir::ValueId::kNone
                                 ? *graph.producer_as<ops::Constant>(old)
                                 : ops::Constant{TRY(HostTensor::make(DType::kF32, {filter.channels})).tensor};
  const ir::ValueId made =
      graph.add_constant(TRY(combined(kind, bias, numbers)), str(graph.node(filter.node).name, ".bias"));
  if (graph.node(filter.node).inputs.size() < 3) graph.set_num_inputs(filter.node, 3);
  graph.set_input(filter.node, 2, made);
  return {};
}

Status scale_weights(ir::Graph& graph, const Filter& filter, const ops::Constant& factors) {
  const ops::Constant old = *graph.producer_as<ops::Constant>(graph.node(filter.node).inputs[1]);
  const Extents& extents = old.value.extents();
  Extents channels{factors.value.volume(), 1}, blocks{filter.channels, volume(extents) / filter.channels};
  if (filter.transposed) {  // [C, O / groups, kernel]: each group has channels of its own
    const int64_t per_group = filter.channels / filter.groups;
    blocks = {filter.groups, extents[0] / filter.groups, per_group, volume(std::span(extents).subspan(2))};
    channels = factors.value.volume() == 1 ? Extents(4, 1) : Extents{filter.groups, 1, per_group, 1};
  }
  const ops::Constant scaled =
      TRY(combined(ops::ElementWiseKind::kProd, reshaped(old, blocks), reshaped(factors, channels)));
  graph.set_input(filter.node, 1,
                  graph.add_constant(reshaped(scaled, extents), str(graph.node(filter.node).name, ".weights")));
  return {};
}

}  // namespace

Status fold_channel_scale(ir::Graph& graph, PassContext&) {
  for (const ir::NodeId id : TRY(graph.topological_order())) {
    const auto* op = graph.node(id).op.as<ops::ElementWise>();
    if (!op || (op->kind != ops::ElementWiseKind::kProd && op->kind != ops::ElementWiseKind::kSum)) continue;
    for (int side = 0; side < 2; ++side) {
      const ir::ValueId filtered = graph.node(id).inputs[static_cast<size_t>(side)];
      const auto filter = filter_behind(graph, filtered);
      if (!filter || !graph.type(filtered).same_type(graph.output_type(id))) continue;
      const auto numbers = per_channel(graph, graph.node(id).inputs[static_cast<size_t>(1 - side)],
                                       graph.output_type(id), filter->channels);
      if (!numbers) continue;
      if (op->kind == ops::ElementWiseKind::kProd) TRY(scale_weights(graph, *filter, *numbers));
      TRY(combine_bias(graph, *filter, op->kind, *numbers));
      std::vector<std::string> provenance = graph.node(filter->node).provenance;
      provenance.insert(provenance.end(), graph.node(id).provenance.begin(), graph.node(id).provenance.end());
      graph.set_provenance(filter->node, std::move(provenance));
      const ir::ValueId output = graph.node(id).outputs[0];
      graph.set_name(filtered, graph.value(output).name);
      graph.drop_taps(filtered);  // it has become the output
      graph.replace_uses(output, filtered);
      graph.remove(id);
      break;
    }
  }
  return graph.infer();
}

}  // namespace kiln::passes
