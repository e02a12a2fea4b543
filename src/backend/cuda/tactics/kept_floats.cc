#include "backend/cuda/tactics/kept_floats.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "ops/bit_cast.h"
#include "ops/cast.h"
#include "ops/convolution.h"
#include "ops/element_wise.h"
#include "ops/grid_sample.h"
#include "ops/non_max_suppression.h"
#include "ops/recurrence.h"
#include "ops/resize.h"
#include "ops/roi_align.h"
#include "ops/scatter.h"
#include "ops/select.h"
#include "ops/top_k.h"
#include "ops/unary.h"
#include "passes/softmax_reads.h"
#include "tensor/magnitude.h"
#include "tensor/numeric.h"

namespace kiln::cuda {
namespace {

// These limits were found by rounding one tensor after another of ten networks, and of 15 architectures with random
// weights. Detectors come near their tolerance in BF16, or miss it, if the weights of their first convolutions or of
// short sums are rounded. Inputs and outputs of these convolutions may be BF16 (pictures of eight bits are, exactly).
// Keeping those in FP32 too would cost resnet50 a tenth of its time.
constexpr int64_t kShortSum = 32;                // products: 3x3 of three channels has 27, 5x5 of one 25
constexpr int64_t kShortFirstSum = 256;          // of a convolution that reads a picture: 7x7 of three channels has 147
constexpr int64_t kMostLastWeights = 4'000'000;  // elements: a vocabulary's projection is worth its BF16

// Elements: a detector's last convolutions, in FP32, cost little.
constexpr int64_t kMostSelectingWeights = 1 << 18;

// Weights of at most so many elements stay FP32 in FP16 builds. Found by rounding efficientnet_b0's layers one after
// another: a layer with fewer weights adds more to the error. All larger layers together add 4e-3 of the output, the
// smaller ones 3e-2 to 5e-2.
constexpr int64_t kFewWeights = 2048;
constexpr double kSmallestNormalHalf = 1.0 / 16384;

/// What stands before and behind each node, by node id.
struct Places {
  std::vector<int> contractions_before;  ///< on the longest path from an input, the node itself included
  std::vector<bool> before_contraction;  ///< some contraction reads the node's result, perhaps through other nodes
  std::vector<bool> digits_contracted;   ///< the same, through nodes that hand digits on
};

/// Whether the node makes whole numbers of floats: of indices and positions for the most part.
bool makes_whole_numbers(const ir::Graph& graph, const ir::Node& node) {
  using enum ops::UnaryKind;
  const auto* unary = node.op.as<ops::Unary>();
  if (unary) return unary->kind == kFloor || unary->kind == kCeil || unary->kind == kRound;
  const auto* cast = node.op.as<ops::Cast>();
  const bool makes_indices = cast && (cast->to == DType::kI32 || cast->to == DType::kI64);  // no pixels, no truth
  return makes_indices && is_float(graph.type(node.inputs[0]).dtype);
}

/// Whether readers of the node get digits of what it reads: neither truth values nor whole numbers. (A detector finds
/// by a logarithm which pyramid level has a box.)
bool hands_digits_on(const ir::Graph& graph, const ir::Node& node) {
  if (node.op.as<ops::Unary>() && makes_whole_numbers(graph, node)) return false;
  return std::ranges::any_of(node.outputs, [&](ir::ValueId output) { return is_float(graph.type(output).dtype); });
}

Places places_of(const ir::Graph& graph, std::span<const ir::NodeId> order) {
  const auto count = static_cast<size_t>(graph.num_nodes());
  Places places{std::vector<int>(count, 0), std::vector<bool>(count, false), std::vector<bool>(count, false)};
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
      for (const ir::NodeId user : graph.value(output).users) {
        const bool contracts = graph.node(user).op.has(Trait::kContraction);
        if (contracts || places.before_contraction[ir::index(user)]) places.before_contraction[ir::index(*id)] = true;
        if (contracts || places.digits_contracted[ir::index(user)])
          places.digits_contracted[ir::index(*id)] = hands_digits_on(graph, graph.node(*id));
      }
  return places;
}

bool is_logarithm(const Op& op) {
  const auto* unary = op.as<ops::Unary>();
  return unary && unary->kind == ops::UnaryKind::kLog;
}

/// Whether a value is an input of the graph, perhaps with its elements moved.
bool is_moved_input(const ir::Graph& graph, ir::ValueId value) {
  while (value != ir::ValueId::kNone && graph.value(value).producer != ir::NodeId::kNone) {
    const ir::Node& node = graph.node(graph.value(value).producer);
    if (!node.op.has(Trait::kMovement) || node.inputs.empty()) return false;
    value = node.inputs[0];
  }
  return value != ir::ValueId::kNone;
}

/// Whether an LSTM's memory is handed from run to run, or from iteration to iteration: what is added up over all of
/// them must not be rounded in each.
bool hands_memory_on(const ir::Graph& graph, const ir::Node& node) {
  using ops::Recurrence;
  const auto* recurrence = node.op.as<Recurrence>();
  return recurrence && recurrence->cell == ops::RecurrenceCell::kLstm &&
         is_moved_input(graph, node.input(Recurrence::kInitialC)) && graph.num_uses(node.outputs[Recurrence::kYC]) > 0;
}

/// Whether the op chooses among its operands by their order, or takes their bits: rounding makes equal what is not, and
/// other bits.
bool selects(const Op& op) { return op.as<ops::BitCast>() || op.as<ops::NonMaxSuppression>() || op.as<ops::TopK>(); }

/// Whether the network goes on in FP64 with a number of FP32: angles of positions, which ask for all digits.
bool widens(const ir::Graph& graph, const ir::Node& node) {
  const auto* cast = node.op.as<ops::Cast>();
  return cast && cast->to == DType::kF64 && graph.type(node.inputs[0]).dtype == DType::kF32;
}

bool has_reader(const ir::Graph& graph, const ir::Node& node, auto is) {
  return std::ranges::any_of(node.outputs,
                             [&](ir::ValueId output) { return std::ranges::any_of(graph.value(output).users, is); });
}

/// Whether some node reads a result as positions in an image.
bool is_read_as_position(const ir::Graph& graph, const ir::Node& node) {
  return has_reader(graph, node, [&](ir::NodeId user) {
    const ir::Node& reader = graph.node(user);
    for (size_t i = 0; i < reader.inputs.size(); ++i)
      if (is_position(reader.op, i) && std::ranges::find(node.outputs, reader.inputs[i]) != node.outputs.end())
        return true;
    return false;
  });
}

/// Whether only LSTMs that hand their memory on read a node's results, perhaps moved.
bool feeds_memory(const ir::Graph& graph, ir::NodeId id) {
  std::set<ir::NodeId> seen{id};
  std::vector<ir::NodeId> open{id};
  bool any = false;
  while (!open.empty()) {
    const ir::Node& node = graph.node(open.back());
    open.pop_back();
    for (const ir::ValueId output : node.outputs) {
      if (graph.is_output(output)) return false;
      for (const ir::NodeId user : graph.value(output).users) {
        const ir::Node& reader = graph.node(user);
        if (hands_memory_on(graph, reader))
          any = true;
        else if (!reader.op.has(Trait::kMovement))
          return false;
        else if (seen.insert(user).second)
          open.push_back(user);
      }
    }
  }
  return any;
}

/// The number of products in each sum of a convolution with constant weights and more than one tap; else 0.
int64_t products_of_sums(const ir::Graph& graph, const ir::Node& node) {
  const HostTensor* weights = node.op.as<ops::Convolution>() ? graph.constant(node.inputs[1]) : nullptr;
  if (!weights || volume(weights->extents()) == 0) return 0;
  const int64_t channels = weights->extents()[1], products = volume(weights->extents()) / weights->extents()[0];
  return products > channels ? products : 0;
}

int64_t largest_constant(const ir::Graph& graph, const ir::Node& node) {
  int64_t most = 0;
  for (const ir::ValueId input : node.inputs)
    if (const HostTensor* constant = input == ir::ValueId::kNone ? nullptr : graph.constant(input))
      most = std::max(most, volume(constant->extents()));
  return most;
}

bool needs_more_than_bf16(const ir::Graph& graph, ir::NodeId id, const Places& places) {
  const ir::Node& node = graph.node(id);
  if (places.before_contraction[ir::index(id)] || places.contractions_before[ir::index(id)] == 0) return false;
  return !node.op.has(Trait::kContraction) || largest_constant(graph, node) <= kMostLastWeights;
}

bool is_f32(const ir::Graph& graph, ir::ValueId value) {
  return value != ir::ValueId::kNone && graph.type(value).dtype == DType::kF32;
}

/// Whether results of the node have the numbers of its operands.
bool hands_numbers_on(const Op& op) { return op.has(Trait::kMovement) || op.as<ops::Scatter>(); }

/// Whether a constant of the node makes its results numbers beyond `limit`, perhaps with another of its size. One that
/// only bounds them does not.
bool has_large_constant(const ir::Graph& graph, const ir::Node& node, double limit) {
  using enum ops::ElementWiseKind;
  const auto* binary = node.op.as<ops::ElementWise>();
  const bool adds = binary && (binary->kind == kSum || binary->kind == kSub);
  const bool multiplies = binary && binary->kind == kProd;
  if (!adds && !multiplies && !node.op.as<ops::Select>() && !hands_numbers_on(node.op)) return false;
  const double most = multiplies ? limit : limit / 2;
  return std::ranges::any_of(node.inputs, [&](ir::ValueId input) {
    const HostTensor* constant = is_f32(graph, input) ? graph.constant(input) : nullptr;
    return constant && largest_magnitude(*constant) > most;
  });
}

/// By value: whether it may be a number beyond the range of `half`, because a constant is, or because the program's
/// masks may be. The sum of these and scores that a softmax reads is not among them.
std::vector<bool> large_values(const ir::Graph& graph, DType half, std::span<const ir::NodeId> order) {
  const double limit = half == DType::kF16 ? kLargestHalf : kLargestBf16;
  const passes::SoftmaxReads reads = passes::softmax_reads(graph, order);
  std::vector<bool> large(static_cast<size_t>(graph.num_values()), false);
  for (const ir::ValueId input : graph.inputs())
    large[ir::index(input)] = is_f32(graph, input) && reads.masks[ir::index(input)];
  for (const ir::NodeId id : order) {
    const ir::Node& node = graph.node(id);
    const bool is_pointwise = node.op.has(Trait::kPointwise);
    if ((!is_pointwise && !hands_numbers_on(node.op)) || !is_f32(graph, node.outputs[0])) continue;
    const auto is_large = [&](ir::ValueId input) { return input != ir::ValueId::kNone && large[ir::index(input)]; };
    const bool reads_others = std::ranges::any_of(node.inputs, [&](ir::ValueId input) {
      return is_f32(graph, input) && !graph.constant(input) && !is_large(input);
    });
    if (is_pointwise && reads_others && reads.scores[ir::index(node.outputs[0])]) continue;
    const bool reads_large = std::ranges::any_of(node.inputs, is_large);
    if (reads_large || has_large_constant(graph, node, limit)) large[ir::index(node.outputs[0])] = true;
  }
  return large;
}

/// Why FP16 would lose a constant that the node multiplies with; empty if it would not.
std::string lost_in_fp16(const ir::Graph& graph, const ir::Node& node) {
  const auto* binary = node.op.as<ops::ElementWise>();
  const bool multiplies =
      binary && (binary->kind == ops::ElementWiseKind::kProd || binary->kind == ops::ElementWiseKind::kDiv);
  if (!multiplies && !node.op.has(Trait::kContraction)) return {};
  const size_t num_factors = node.op.as<ops::Recurrence>() ? 3 : 2;  // of what follows, biases are added
  for (const ir::ValueId input : std::span(node.inputs).first(std::min(num_factors, node.inputs.size()))) {
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

/// Whether weights are so few that their errors, which all pixels share, do not average out.
bool has_few_weights(const ir::Graph& graph, const ir::Node& node) {
  const HostTensor* weights = node.op.as<ops::Convolution>() ? graph.constant(node.inputs[1]) : nullptr;
  return weights && weights->rank() <= 4 && volume(weights->extents()) <= kFewWeights;
}
bool has_short_sums(const ir::Graph& graph, const ir::Node& node, bool is_first) {
  const int64_t products = products_of_sums(graph, node);
  return products > 0 && products <= (is_first ? kShortFirstSum : kShortSum) && graph.type(node.inputs[1]).rank() <= 4;
}

/// Whether contractions use a logarithm of what is computed from the node.
bool is_in_front_end(const ir::Graph& graph, ir::NodeId id) {
  // A depth-first walk over all that is computed from the node. The flag says whether a logarithm stands in between.
  std::vector<std::array<bool, 2>> seen(static_cast<size_t>(graph.num_nodes()));
  std::vector<std::pair<ir::NodeId, bool>> open{{id, false}};
  while (!open.empty()) {
    const auto [at, behind_log] = open.back();
    open.pop_back();
    if (!hands_digits_on(graph, graph.node(at))) continue;
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

}  // namespace

Result<KeptFloats> floats_to_keep(const ir::Graph& graph, DType half, std::vector<std::string>& reasons) {
  const std::vector<ir::NodeId> order = TRY(graph.topological_order());
  const Places places = places_of(graph, order);
  KeptFloats kept;
  kept.nodes.assign(static_cast<size_t>(graph.num_nodes()), false);
  kept.weights = kept.nodes;
  kept.large = large_values(graph, half, order);
  std::vector<bool> in_front_end = kept.nodes;
  // What reads it chooses by all of its digits, adds them up, or takes it for a place.
  std::vector<bool> is_selected = kept.nodes, is_remembered = kept.nodes, is_placed = kept.nodes;
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const ir::Node& node = graph.node(*id);
    const size_t at = ir::index(*id);
    if (is_logarithm(node.op) && places.digits_contracted[at]) in_front_end[at] = true;
    const bool multiplies = node.op.has(Trait::kContraction), moves = node.op.has(Trait::kMovement);
    const auto is_read = [&](const std::vector<bool>& by) {
      return has_reader(graph, node, [&](ir::NodeId user) { return by[ir::index(user)]; });
    };
    const bool selects_later = is_read(is_selected);
    is_selected[at] = selects(node.op) || (selects_later && !multiplies);
    is_placed[at] =
        makes_whole_numbers(graph, node) || widens(graph, node) ||
        (!multiplies && hands_digits_on(graph, node) && (is_read(is_placed) || is_read_as_position(graph, node)));
    is_remembered[at] =
        hands_memory_on(graph, node) || (multiplies ? feeds_memory(graph, *id) : is_read(is_remembered));
    // What only moves halves loses nothing.
    const bool has_digits = !moves || node.inputs.empty() || is_moved_input(graph, node.inputs[0]);
    const bool wants_digits = ((is_selected[at] || is_remembered[at] || is_placed[at]) && has_digits) ||
                              (multiplies && selects_later && largest_constant(graph, node) <= kMostSelectingWeights);
    const bool is_large = !node.outputs.empty() && kept.large[ir::index(node.outputs[0])];
    kept.nodes[at] = in_front_end[at] || wants_digits || is_large ||
                     (half == DType::kBF16 && needs_more_than_bf16(graph, *id, places));
    if (half == DType::kF16 && !kept.nodes[at])
      if (std::string lost = lost_in_fp16(graph, node); !lost.empty()) {
        kept.nodes[at] = true;
        reasons.push_back(std::move(lost));
      }
    kept.weights[at] = has_few_weights(graph, node) ||
                       (half == DType::kBF16 && has_short_sums(graph, node, places.contractions_before[at] == 1));
    if (!in_front_end[at]) continue;
    for (const ir::ValueId input : node.inputs)
      if (input != ir::ValueId::kNone && graph.value(input).producer != ir::NodeId::kNone)
        in_front_end[ir::index(graph.value(input).producer)] = true;
  }
  return kept;
}

bool is_position(const Op& op, size_t operand) {
  return (operand == 1 && (op.as<ops::GridSample>() || op.as<ops::RoiAlign>())) ||
         (operand > 0 && op.as<ops::Resize>());  // scales decide extents, too
}

bool needs_all_digits(const ir::Graph& graph, ir::NodeId id) {
  return feeds_memory(graph, id) || is_in_front_end(graph, id);
}

}  // namespace kiln::cuda
