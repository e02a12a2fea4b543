#include "backend/cuda/tactics/lower.h"

#include <algorithm>
#include <set>
#include <vector>

#include "backend/cuda/tactics/kept_floats.h"
#include "ir/precision.h"
#include "ops/cast.h"
#include "ops/dequantize.h"
#include "ops/dim_values.h"
#include "ops/element_wise.h"
#include "ops/fill.h"
#include "ops/reduce.h"
#include "ops/unary.h"
#include "tactics/retype.h"

namespace kiln::cuda {
namespace {

class InHalf final : public RetypeRules {
 public:
  InHalf(DType half, KeptFloats kept) : half_(half), kept_(std::move(kept)) {}

  DType compute_type(const ir::Graph& graph, ir::NodeId id, DType was) override {
    const auto precision = ir::float_precision_of(graph.node(id));
    if (precision == DType::kF32) return stay(graph, id);
    if (was != DType::kF32) return was;
    if (precision) return *precision;
    if (!stays_float(graph, id)) return half_;
    return stay(graph, id);
  }

  bool exceeds_halves(const ir::Graph&, ir::ValueId value) override { return kept_.large[ir::index(value)]; }
  bool keeps_operand(const ir::Graph& graph, ir::NodeId id, size_t operand) override {
    return is_position(graph.node(id).op, operand);
  }
  bool keeps_weights(const ir::Graph&, ir::NodeId id) override { return kept_.weights[ir::index(id)]; }

 private:
  DType stay(const ir::Graph& graph, ir::NodeId id) {
    for (const ir::ValueId output : graph.node(id).outputs) in_float_.insert(output);
    return DType::kF32;
  }

  bool stays_float(const ir::Graph& graph, ir::NodeId id) const {
    const ir::Node& node = graph.node(id);
    if (node.op.as<ops::Fill>() || node.op.as<ops::DimValues>()) return true;
    if (node.op.as<ops::Cast>() && !is_float(graph.input_type(id, 0).dtype)) return true;
    if (node.op.as<ops::Dequantize>()) return feeds_kept(graph, id) || feeds_bytes(graph, id);
    if (is_pointwise(graph, id) && (is_scalar(graph.output_type(id)) || reads_sums_of_integers(graph, id))) return true;
    if (kept_.nodes[ir::index(id)] || sums_integers(graph, id)) return true;
    if (half_ == DType::kF16 ? leaves_range(node.op) : adds_up(node.op) && !is_operand(graph, id)) return true;
    return follows_kept(graph, node);
  }

  /// Whether a contraction that stays in FP32 reads the node's result: a cast between them would hide its bytes.
  bool feeds_kept(const ir::Graph& graph, ir::NodeId id) const {
    return std::ranges::any_of(graph.value(graph.node(id).outputs[0]).users, [&](ir::NodeId user) {
      return graph.node(user).op.has(Trait::kContraction) &&
             (kept_.nodes[ir::index(user)] || sums_integers(graph, user));
    });
  }
  static bool is_pointwise(const ir::Graph& graph, ir::NodeId id) { return graph.node(id).op.has(Trait::kPointwise); }
  /// Whether there is one element, such as a scale that is computed: FP32 costs nothing.
  static bool is_scalar(const TensorType& type) { return type.volume() == sym::Expr(1); }
  /// Whether the node reads whole numbers beyond those that halves have, perhaps converted.
  static bool reads_sums_of_integers(const ir::Graph& graph, ir::NodeId id) {
    return std::ranges::any_of(graph.node(id).inputs, [&](ir::ValueId input) {
      const ir::NodeId producer = input == ir::ValueId::kNone ? ir::NodeId::kNone : graph.value(input).producer;
      if (producer == ir::NodeId::kNone) return false;
      if (sums_integers(graph, producer)) return true;
      const Op& op = graph.node(producer).op;
      const auto* unary = op.as<ops::Unary>();
      const bool keeps_number = op.as<ops::Cast>() || (unary && unary->kind == ops::UnaryKind::kRound);
      return keeps_number && reads_sums_of_integers(graph, producer);
    });
  }
  /// Whether what reads a Dequantize only works on dequantized numbers: a nest has them in FP32 anyway.
  static bool feeds_bytes(const ir::Graph& graph, ir::NodeId id) {
    return std::ranges::all_of(graph.value(graph.node(id).outputs[0]).users, [&](ir::NodeId user) {
      return is_pointwise(graph, user) && std::ranges::all_of(graph.node(user).inputs, [&](ir::ValueId input) {
               return input == ir::ValueId::kNone || graph.constant(input) || graph.producer_as<ops::Dequantize>(input);
             });
    });
  }
  /// Whether a contraction's results are rounded to whole numbers, which halves have up to 2048 alone.
  static bool sums_integers(const ir::Graph& graph, ir::NodeId id) {
    if (!graph.node(id).op.has(Trait::kContraction)) return false;
    return std::ranges::any_of(graph.value(graph.node(id).outputs[0]).users, [&](ir::NodeId user) {
      const auto* unary = graph.node(user).op.as<ops::Unary>();
      return unary && unary->kind == ops::UnaryKind::kRound;
    });
  }

  /// Whether an op's results may exceed 65504 where its operands do not.
  static bool leaves_range(const Op& op) {
    if (const auto* binary = op.as<ops::ElementWise>()) return binary->kind == ops::ElementWiseKind::kPow;
    if (const auto* unary = op.as<ops::Unary>())
      return unary->kind == ops::UnaryKind::kExp || unary->kind == ops::UnaryKind::kRecip;
    if (const auto* reduce = op.as<ops::Reduce>())
      return reduce->kind == ops::ReduceKind::kSum || reduce->kind == ops::ReduceKind::kProd;
    return false;
  }

  /// Whether the op sums many elements. Such a sum may be small beside its terms: BF16's eight bits lose a mean, or the
  /// difference between a mean of squares and a squared mean.
  static bool adds_up(const Op& op) {
    const auto* reduce = op.as<ops::Reduce>();
    return reduce && (reduce->kind == ops::ReduceKind::kSum || reduce->kind == ops::ReduceKind::kAvg ||
                      reduce->kind == ops::ReduceKind::kProd);
  }

  /// Whether only contractions of halves read the node's result, perhaps after moving it. They round it in any case.
  bool is_operand(const ir::Graph& graph, ir::NodeId id) const {
    const ir::ValueId result = graph.node(id).outputs[0];
    if (graph.is_output(result) || graph.value(result).users.empty()) return false;
    return std::ranges::all_of(graph.value(result).users, [&](ir::NodeId user) {
      const Op& op = graph.node(user).op;
      if (op.has(Trait::kContraction)) return !kept_.nodes[ir::index(user)];
      return op.has(Trait::kMovement) && is_operand(graph, user);
    });
  }

  /// Whether the node only works on, or moves, values that stay in FP32.
  bool follows_kept(const ir::Graph& graph, const ir::Node& node) const {
    if (!node.op.has(Trait::kPointwise) && !node.op.has(Trait::kMovement) && !node.op.has(Trait::kReduction))
      return false;
    bool any = false;
    for (const ir::ValueId input : node.inputs) {
      if (input == ir::ValueId::kNone || graph.constant(input) || graph.type(input).dtype != DType::kF32) continue;
      if (!in_float_.contains(input)) return false;
      any = true;
    }
    return any;
  }

  const DType half_;
  const KeptFloats kept_;
  std::set<ir::ValueId> in_float_;
};

}  // namespace

Status lower_floats(ir::Graph& graph, const Numerics& numerics, std::vector<std::string>& reasons) {
  if (numerics.strongly_typed || (!numerics.fp16 && !numerics.bf16)) return {};
  const DType half = numerics.fp16 ? DType::kF16 : DType::kBF16;
  InHalf rules(half, TRY(floats_to_keep(graph, half, reasons)));
  graph = TRY(retype(graph, rules));
  return {};
}

}  // namespace kiln::cuda
