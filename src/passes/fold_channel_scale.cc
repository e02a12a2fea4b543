#include "passes/fold_channel_scale.h"

#include <optional>

#include "ops/convolution.h"
#include "ops/deconvolution.h"
#include "ops/element_wise.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

/// One number a channel (axis 1 of `output`), if `value` is a constant that broadcasts so.
std::optional<std::vector<double>> per_channel(const ir::Graph& graph, ir::ValueId value, const TensorType& output,
                                               int64_t channels) {
  const HostTensor* constant = graph.constant(value);
  if (!constant || constant->rank() != output.rank()) return std::nullopt;
  for (int axis = 0; axis < constant->rank(); ++axis)
    if (axis != 1 && constant->extents()[static_cast<size_t>(axis)] != 1) return std::nullopt;
  const View view(*constant);
  if (view.volume() != 1 && view.volume() != channels) return std::nullopt;
  std::vector<double> result;
  for (int64_t c = 0; c < channels; ++c) result.push_back(view[view.volume() == 1 ? 0 : c]);
  return result;
}

/// A filter (convolution or deconvolution) with constant weights whose output only `user` reads.
struct Filter {
  ir::NodeId node;
  int64_t channels;        ///< of its output
  int64_t weights_inner;   ///< elements of w from one output channel to the next, within an outer index
  int64_t weights_groups;  ///< outer indices that share those channels' factor pattern: see output_channel
  bool transposed;
  int64_t groups;
};

std::optional<Filter> filter_behind(const ir::Graph& graph, ir::ValueId value) {
  const ir::NodeId id = graph.value(value).producer;
  if (id == ir::NodeId::kNone || graph.num_uses(value) != 1) return std::nullopt;
  const ir::Node& node = graph.node(id);
  const auto* conv = node.op.as<ops::Convolution>();
  const auto* deconv = node.op.as<ops::Deconvolution>();
  const HostTensor* w = (conv || deconv) ? graph.constant(node.inputs[1]) : nullptr;
  if (!w || w->dtype() != DType::kF32) return std::nullopt;
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != ir::ValueId::kNone;
  if (has_bias && !graph.constant(node.inputs[2])) return std::nullopt;
  const int64_t kernel = volume(std::span(w->extents()).subspan(2));
  if (conv) return Filter{id, w->extents()[0], w->extents()[1] * kernel, 1, false, conv->groups};
  return Filter{id, w->extents()[1] * deconv->groups, kernel, w->extents()[0], true, deconv->groups};
}

/// The output channel that element `index` of the weights belongs to.
int64_t output_channel(const Filter& filter, int64_t index) {
  if (!filter.transposed) return index / filter.weights_inner;
  const int64_t per_group = filter.channels / filter.groups, inputs_per_group = filter.weights_groups / filter.groups;
  const int64_t row = index / filter.weights_inner;  // of [C, O / groups]
  return row / per_group / inputs_per_group * per_group + row % per_group;
}

std::vector<double> bias_of(const ir::Graph& graph, const Filter& filter) {
  const ir::Node& node = graph.node(filter.node);
  std::vector<double> bias(static_cast<size_t>(filter.channels), 0.0);
  if (node.inputs.size() < 3 || node.inputs[2] == ir::ValueId::kNone) return bias;
  const View view(*graph.constant(node.inputs[2]));
  for (int64_t c = 0; c < filter.channels; ++c) bias[static_cast<size_t>(c)] = view[c];
  return bias;
}

void set_bias(ir::Graph& graph, const Filter& filter, const std::vector<double>& bias) {
  const ir::ValueId made = graph.add_constant(HostTensor::of(DType::kF32, {filter.channels}, bias),
                                              str(graph.node(filter.node).name, ".bias"));
  if (graph.node(filter.node).inputs.size() < 3) graph.set_num_inputs(filter.node, 3);
  graph.set_input(filter.node, 2, made);
}

Status scale_weights(ir::Graph& graph, const Filter& filter, const std::vector<double>& factors) {
  const HostTensor old = *graph.constant(graph.node(filter.node).inputs[1]);
  HostTensor::Fresh fresh = TRY(HostTensor::make(DType::kF32, old.extents()));
  auto* scaled = reinterpret_cast<float*>(fresh.data.data());
  for (int64_t i = 0; i < old.volume(); ++i)
    scaled[i] = static_cast<float>(old.data<float>()[i] * factors[static_cast<size_t>(output_channel(filter, i))]);
  graph.set_input(filter.node, 1,
                  graph.add_constant(std::move(fresh.tensor), str(graph.node(filter.node).name, ".weights")));
  return {};
}

}  // namespace

Status fold_channel_scale(ir::Graph& graph, PassContext& cx) {
  if (cx.refittable) return {};
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
      std::vector<double> bias = bias_of(graph, *filter);
      const bool is_product = op->kind == ops::ElementWiseKind::kProd;
      for (size_t c = 0; c < bias.size(); ++c) bias[c] = is_product ? bias[c] * (*numbers)[c] : bias[c] + (*numbers)[c];
      if (is_product) TRY(scale_weights(graph, *filter, *numbers));
      set_bias(graph, *filter, bias);
      std::vector<std::string> provenance = graph.node(filter->node).provenance;
      provenance.insert(provenance.end(), graph.node(id).provenance.begin(), graph.node(id).provenance.end());
      graph.set_provenance(filter->node, std::move(provenance));
      const ir::ValueId output = graph.node(id).outputs[0];
      graph.set_name(filtered, graph.value(output).name);
      graph.replace_uses(output, filtered);
      graph.remove(id);
      break;
    }
  }
  return graph.infer();
}

}  // namespace kiln::passes
