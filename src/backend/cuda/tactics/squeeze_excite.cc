/// Squeeze and excitation in a kernel: x times gates that the mean of each channel decides, through two small products.
#include "backend/cuda/tactics/squeeze_excite.h"

#include <algorithm>

#include "backend/cuda/compile/excite/excite.h"
#include "backend/cuda/tactics/compile.h"
#include "ops/convolution.h"
#include "ops/element_wise.h"
#include "ops/reduce.h"
#include "steps/squeeze_excite.h"
#include "tactics/chain.h"
#include "tactics/region.h"

namespace kiln::cuda {
namespace {

using ir::NodeId;
using ir::ValueId;

/// A convolution of single pixels and the chain of functions behind it.
struct Layer {
  ValueId input = ValueId::kNone, weights = ValueId::kNone, bias = ValueId::kNone;
  NestProgram function;
};

/// Walks from the product up to x. Nodes are noted on the way, consumers first.
class Walk {
 public:
  explicit Walk(const ir::Graph& graph) : graph_(graph) {}

  Match run(NodeId root) {
    const auto* product = graph_.node(root).op.as<ops::ElementWise>();
    if (!product || product->kind != ops::ElementWiseKind::kProd) return reject("not a product");
    const TensorType& y = graph_.output_type(root);
    if (y.rank() < 3 || !is_kernel_float(y.dtype))
      return reject("y is ", y, "; [N, C, spatial...] of floats is needed");
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const ValueId x = graph_.node(root).inputs[side], gates = graph_.node(root).inputs[1 - side];
      if (!graph_.type(x).same_type(y) || graph_.constant(x) || graph_.num_uses(gates) != 1) continue;
      nodes_ = {root};
      auto outer = layer(gates), inner = outer ? layer(outer->input) : std::unexpected(outer.error());
      if (!inner) return std::unexpected(inner.error());
      if (!is_mean(inner->input, x))
        return reject("the gates do not come from the mean of the other factor's channels");
      return region(root, x, *inner, *outer);
    }
    return reject("neither factor is of the product's type");
  }

 private:
  std::expected<Layer, Reject> layer(ValueId result) {
    const NodeId end = graph_.value(result).producer;
    if (end == NodeId::kNone || graph_.is_output(result))
      return reject("no node makes a factor, or the factor is an output of the network");
    auto chain = grow_chain(graph_, end, is_hook_type);
    if (!chain) return std::unexpected(chain.error());
    if (chain->leaves.size() != 1)
      return reject("the functions behind a product have ", chain->leaves.size(), " inputs");
    const ValueId sums = chain->leaves[0];
    const auto* convolution = graph_.producer_as<ops::Convolution>(sums);
    const auto within = [&](NodeId user) { return std::ranges::find(chain->nodes, user) != chain->nodes.end(); };
    if (!convolution || graph_.is_output(sums) || !std::ranges::all_of(graph_.value(sums).users, within))
      return reject("no convolution that only these functions read");
    const ir::Node& node = graph_.node(graph_.value(sums).producer);
    Layer found{node.inputs[0], node.inputs[1], node.inputs.size() > 2 ? node.inputs[2] : ValueId::kNone,
                std::move(chain->program)};
    const TensorType &x = graph_.type(found.input), &y = graph_.type(sums);
    const auto is_one = [](const sym::Expr& extent) { return extent == sym::Expr(1); };
    if (convolution->groups != 1 || !graph_.constant(found.weights) ||
        (found.bias != ValueId::kNone && !graph_.constant(found.bias)) ||
        !std::all_of(x.shape.begin() + 2, x.shape.end(), is_one) ||
        !std::all_of(y.shape.begin() + 2, y.shape.end(), is_one) ||
        graph_.type(found.weights).shape[0] * graph_.type(found.weights).shape[1] !=
            graph_.type(found.weights).volume())
      return reject("the convolution of ", x, " is not a product with a constant");
    nodes_.insert(nodes_.end(), chain->nodes.rbegin(), chain->nodes.rend());
    nodes_.push_back(graph_.value(sums).producer);
    return found;
  }

  bool is_mean(ValueId mean, ValueId x) {
    const auto* reduce = graph_.producer_as<ops::Reduce>(mean);
    if (!reduce || reduce->kind != ops::ReduceKind::kAvg || !reduce->keep || graph_.num_uses(mean) != 1) return false;
    const NodeId id = graph_.value(mean).producer;
    const int rank = graph_.type(x).rank();
    std::vector<bool> reduced(static_cast<size_t>(rank), false);
    for (const int64_t axis : reduce->axes) reduced[static_cast<size_t>(*normalize_axis(axis, rank))] = true;
    nodes_.push_back(id);
    return graph_.node(id).inputs[0] == x && !reduced[0] && !reduced[1] &&
           std::all_of(reduced.begin() + 2, reduced.end(), [](bool r) { return r; });
  }

  Match region(NodeId root, ValueId x, const Layer& inner, const Layer& outer) {
    const DType type = graph_.type(x).dtype, weights = graph_.type(inner.weights).dtype;
    if (weights != type && weights != DType::kF32) return reject("x is ", type, ", the weights ", weights);
    for (const ValueId value : {outer.weights, inner.bias, outer.bias})
      if (value != ValueId::kNone && graph_.type(value).dtype != weights)
        return reject("some weights are ", weights, ", one is ", graph_.type(value));
    std::ranges::reverse(nodes_);
    return Region{std::move(nodes_),
                  {x, inner.weights, outer.weights, inner.bias, outer.bias},
                  {graph_.node(root).outputs[0]},
                  to_record(steps::SqueezeExcite{.hidden = inner.function, .gate = outer.function})};
  }

  const ir::Graph& graph_;
  std::vector<NodeId> nodes_;
};

ExciteKernel kernel_of(const TacticContext& cx, const Region& region, int64_t blocks) {
  const TensorType& w1 = cx.graph.type(region.inputs[1]);
  const Extents extents = *w1.extents();
  return {cx.graph.type(region.inputs[0]).dtype, w1.dtype, extents[1], extents[0], blocks};
}

/// A launch at the profile's maximum, or why there is none.
Result<ExciteLaunch> launch_of(const TacticContext& cx, const Region& region, const ExciteKernel& kernel) {
  TRY(validate(kernel));
  const Extents most = cx.graph.type(region.inputs[0]).max_extents();
  const ExciteLaunch launch = TRY(excite_launch(kernel, most[0], volume(std::span(most).subspan(2)),
                                                device_of(cx).properties().shared_bytes_per_block));
  TRY(require(launch.shape.shared_bytes <= most_shared_bytes(cx), "a block takes ", launch.shape.shared_bytes,
              " bytes of shared memory; the build's limit is ", most_shared_bytes(cx)));
  return launch;
}

class SqueezeExciteTactic final : public Tactic {
 public:
  std::string_view name() const override { return "squeeze excite"; }

  Match match(const TacticContext& cx, NodeId root) const override {
    Match region = Walk(cx.graph).run(root);
    if (!region) return region;
    if (!variants(cx, *region).empty()) return region;
    const auto launch = launch_of(cx, *region, kernel_of(cx, *region, 1));
    return reject(launch ? std::string("its images are too many for clusters and too large for a block")
                         : launch.error().message);
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    const TensorType& x = cx.graph.type(region.inputs[0]);
    const int64_t images = std::max<int64_t>(1, x.opt_extents()[0]);
    const Properties& p = device_of(cx).properties();
    const Format last = Format::channels_last(x.rank());
    std::vector<Variant> result;
    // The likeliest size comes first: few images leave room for large clusters, many images fill the GPU with small
    // ones.
    const bool few = images * 16 <= p.num_multiprocessors;
    const std::vector<int64_t> sizes = p.compute_major < 9 ? std::vector<int64_t>{1}
                                       : few               ? std::vector<int64_t>{16, 8}
                                                           : std::vector<int64_t>{2, 4, 8, 1};
    for (const int64_t blocks : sizes) {
      if (blocks == 1 && !result.empty()) continue;  // always slower
      if (blocks > 1 && images * blocks > 4 * int64_t{p.num_multiprocessors}) continue;
      if (!launch_of(cx, region, kernel_of(cx, region, blocks))) continue;
      Variant variant{str("clusters of ", blocks), {last, {}, {}, {}, {}}, {last}, {}, 0};
      variant.params = to_record(ExciteTuning{.blocks = blocks});
      result.push_back(std::move(variant));
    }
    return result;
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const auto step = TRY(from_record<steps::SqueezeExcite>(region.data));
    const auto tuning = TRY(from_record<ExciteTuning>(variant.params));
    StepDraft draft = cuda_step(step, tuning);
    draft.in_place_input = 0;
    draft.binary = TRY(compile_kernel(cx, excite_source(kernel_of(cx, region, tuning.blocks), step.hidden, step.gate)));
    return draft;
  }
};

}  // namespace

const Tactic& squeeze_excite_tactic() {
  static const SqueezeExciteTactic tactic;
  return tactic;
}

}  // namespace kiln::cuda
