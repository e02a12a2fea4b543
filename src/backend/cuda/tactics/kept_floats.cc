#include "backend/cuda/tactics/kept_floats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ops/convolution.h"
#include "ops/element_wise.h"
#include "ops/unary.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

// Found by rounding tensors of ten networks in turns, and of 15 architectures with random weights. Without the first
// convolution, or the weights of short sums, detectors are near their tolerance in BF16 or miss it; the four first
// contractions, and all that short sums read and make, cost resnet50 a tenth of its time and came no closer.
constexpr int64_t kShortSum = 32;                // products: 3x3 of three channels has 27, 5x5 of one 25
constexpr int64_t kMostLastWeights = 4'000'000;  // elements: a vocabulary's projection is worth its BF16

// Elements, in FP16. Found by rounding the weights of efficientnet_b0 in turns: a layer's share of the error falls with
// their number, those of more have 4e-3 of the output together, those of at most so many 3e-2 to 5e-2.
constexpr int64_t kFewWeights = 2048;
constexpr double kLargestHalf = 65504, kSmallestNormalHalf = 1.0 / 16384;

/// What a node has before and behind it.
struct Places {
  std::vector<int> contractions_before;  ///< on the longest way from an input, the node itself included
  std::vector<bool> before_contraction;  ///< some contraction reads what it makes, maybe through others
};

Places places_of(const ir::Graph& graph, std::span<const ir::NodeId> order) {
  const auto count = static_cast<size_t>(graph.num_nodes());
  Places places{std::vector<int>(count, 0), std::vector<bool>(count, false)};
  for (const ir::NodeId id : order) {
    int& most = places.contractions_before[ir::index(id)];
    for (const ir::ValueId input : graph.node(id).inputs) {
      const ir::NodeId producer = input == ir::ValueId::kNone ? ir::NodeId::kNone : graph.value(input).producer;
      if (producer != ir::NodeId::kNone) most = std::max(most, places.contractions_before[ir::index(producer)]);
    }
    most += graph.node(id).op.has(Trait::kContraction);
  }
  for (auto id = order.rbegin(); id != order.rend(); ++id)
    for (const ir::ValueId output : graph.node(*id).outputs)
      for (const ir::NodeId user : graph.value(output).users)
        if (places.before_contraction[ir::index(user)] || graph.node(user).op.has(Trait::kContraction))
          places.before_contraction[ir::index(*id)] = true;
  return places;
}

bool is_logarithm(const Op& op) {
  const auto* unary = op.as<ops::Unary>();
  return unary && unary->kind == ops::UnaryKind::kLog;
}

/// Whether a node is a convolution by constant weights that adds up few products of neighbours: errors of the weights
/// do not average out in it.
bool is_short_sum(const ir::Graph& graph, const ir::Node& node) {
  const HostTensor* weights = node.op.as<ops::Convolution>() ? graph.constant(node.inputs[1]) : nullptr;
  if (!weights || volume(weights->extents()) == 0) return false;
  const int64_t channels = weights->extents()[1], products = volume(weights->extents()) / weights->extents()[0];
  return products > channels && products <= kShortSum;
}

int64_t largest_constant(const ir::Graph& graph, const ir::Node& node) {
  int64_t most = 0;
  for (const ir::ValueId input : node.inputs)
    if (const HostTensor* constant = input == ir::ValueId::kNone ? nullptr : graph.constant(input))
      most = std::max(most, volume(constant->extents()));
  return most;
}

Kept kept_of_bf16(const ir::Graph& graph, ir::NodeId id, const Places& places) {
  const ir::Node& node = graph.node(id);
  const bool is_last = !places.before_contraction[ir::index(id)];
  const int contractions = places.contractions_before[ir::index(id)];
  if (!node.op.has(Trait::kContraction)) return is_last && contractions > 0 ? Kept::kWithFollowers : Kept::kNo;
  if (is_last && largest_constant(graph, node) <= kMostLastWeights) return Kept::kWithFollowers;
  return contractions == 1 && node.op.as<ops::Convolution>() ? Kept::kAlone : Kept::kNo;
}

/// The largest finite magnitude; 0 if there is none.
double largest_magnitude(const HostTensor& constant) {
  double largest = 0;
  const View view(constant);
  for (int64_t i = 0; i < view.volume(); ++i)
    if (std::isfinite(view[i])) largest = std::max(largest, std::abs(view[i]));
  return largest;
}

/// Why FP16 would lose a constant that the node multiplies with; empty if it would not.
std::string lost_in_fp16(const ir::Graph& graph, const ir::Node& node) {
  const auto* binary = node.op.as<ops::ElementWise>();
  const bool multiplies =
      binary && (binary->kind == ops::ElementWiseKind::kProd || binary->kind == ops::ElementWiseKind::kDiv);
  if (!multiplies && !node.op.has(Trait::kContraction)) return {};
  for (const ir::ValueId input : std::span(node.inputs).first(2)) {  // a bias is added
    const HostTensor* constant = graph.constant(input);
    if (!constant || constant->dtype() != DType::kF32) continue;
    const double largest = largest_magnitude(*constant);
    if (largest > kLargestHalf || (largest > 0 && largest < kSmallestNormalHalf))
      return str("'", node.name, "' stays in FP32: its constant ", graph.value(input).name, " of ", constant->extents(),
                 " reaches ", largest, ", and FP16 has its digits between ", kSmallestNormalHalf, " and ",
                 kLargestHalf);
  }
  return {};
}

}  // namespace

bool keeps_float_weights(const ir::Graph& graph, ir::NodeId id, DType half) {
  const ir::Node& node = graph.node(id);
  const HostTensor* weights = node.op.as<ops::Convolution>() ? graph.constant(node.inputs[1]) : nullptr;
  if (!weights || weights->rank() > 4) return false;
  return volume(weights->extents()) <= kFewWeights || (half == DType::kBF16 && is_short_sum(graph, node));
}

Result<std::vector<Kept>> nodes_kept_in_float(const ir::Graph& graph, DType half, std::vector<std::string>& reasons) {
  const std::vector<ir::NodeId> order = TRY(graph.topological_order());
  const Places places = places_of(graph, order);
  std::vector<Kept> kept(static_cast<size_t>(graph.num_nodes()), Kept::kNo);
  std::vector<bool> in_front_end(kept.size(), false);
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const size_t at = ir::index(*id);
    if (is_logarithm(graph.node(*id).op) && places.before_contraction[at]) in_front_end[at] = true;
    if (in_front_end[at]) {
      kept[at] = Kept::kWithFollowers;
      for (const ir::ValueId input : graph.node(*id).inputs)
        if (input != ir::ValueId::kNone && graph.value(input).producer != ir::NodeId::kNone)
          in_front_end[ir::index(graph.value(input).producer)] = true;
    } else if (half == DType::kBF16) {
      kept[at] = kept_of_bf16(graph, *id, places);
    } else if (std::string lost = lost_in_fp16(graph, graph.node(*id)); !lost.empty()) {
      kept[at] = Kept::kWithFollowers;
      reasons.push_back(std::move(lost));
    }
  }
  return kept;
}

bool is_in_front_end(const ir::Graph& graph, ir::NodeId id) {
  // Depth first over what is computed from the node; a state says whether a logarithm was passed.
  std::vector<std::array<bool, 2>> seen(static_cast<size_t>(graph.num_nodes()));
  std::vector<std::pair<ir::NodeId, bool>> open{{id, false}};
  while (!open.empty()) {
    const auto [at, behind_log] = open.back();
    open.pop_back();
    for (const ir::ValueId output : graph.node(at).outputs)
      for (const ir::NodeId user : graph.value(output).users) {
        const Op& op = graph.node(user).op;
        if (behind_log && op.has(Trait::kContraction)) return true;
        const bool logged = behind_log || is_logarithm(op);
        if (std::exchange(seen[ir::index(user)][logged], true)) continue;
        open.emplace_back(user, logged);
      }
  }
  return false;
}

}  // namespace kiln::cuda
