#include "tactics/attention.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/select.h"
#include "ops/softmax.h"
#include "ops/transpose.h"
#include "ops/unary.h"
#include "tensor/view.h"

namespace kiln {
namespace {

using Axes = std::vector<int64_t>;  // of a stored tensor, by the axis of the product that it stands for

/// An operand of a product: where it comes from, with the order of its axes there.
struct Operand {
  ir::ValueId value;
  Axes axes;
};

/// Walks from the result to q, k and v. Nodes are noted on the way, consumers first.
class Walk {
 public:
  Walk(const TacticContext& cx, std::span<const DType> types) : graph_(cx.graph), types_(types) {}

  Match run(ir::NodeId root) {
    ir::NodeId product = root;
    Axes out = identity(graph_.output_type(root).rank());
    if (const auto* transpose = graph_.node(root).op.as<ops::Transpose>()) {
      for (size_t i = 0; i < out.size(); ++i) out[static_cast<size_t>(transpose->perm[i])] = static_cast<int64_t>(i);
      const ir::ValueId moved = graph_.node(root).inputs[0];
      if (!is_inner(moved)) return reject("what is transposed has other readers");
      nodes_.push_back(root);
      product = graph_.value(moved).producer;
    }
    const auto* weighted = graph_.node(product).op.as<ops::MatrixMultiply>();
    if (!weighted || weighted->a != ops::MatrixOp::kNone || weighted->b == ops::MatrixOp::kVector)
      return reject("no product of weights and values ends here");
    const int rank = graph_.output_type(product).rank();
    if (rank != 3 && rank != 4) return reject("the product has rank ", rank, "; attention has 3 or 4 axes");
    nodes_.push_back(product);
    const ir::ValueId probabilities = graph_.node(product).inputs[0], v = graph_.node(product).inputs[1];
    const auto scores = product_of_scores(probabilities, rank);
    if (!scores) return std::unexpected(scores.error());
    const auto* dots = graph_.node(*scores).op.as<ops::MatrixMultiply>();
    if (dots->a == ops::MatrixOp::kVector || dots->b == ops::MatrixOp::kVector)
      return reject("the scores are a product with a vector");
    nodes_.push_back(*scores);
    Operand q = operand(graph_.node(*scores).inputs[0], Scale::kAbsorbed, dots->a == ops::MatrixOp::kTranspose);
    Operand k = operand(graph_.node(*scores).inputs[1], Scale::kAbsorbed, dots->b == ops::MatrixOp::kNone);
    Operand values = operand(v, Scale::kLeft, weighted->b == ops::MatrixOp::kTranspose);
    return region(root, rank, q, k, values, out);
  }

 private:
  enum class Scale : uint8_t { kLeft, kAbsorbed };

  static Axes identity(int rank) {
    Axes axes(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
  }
  /// Only the node that led here reads the value, and a node makes it.
  bool is_inner(ir::ValueId value) const {
    return graph_.value(value).producer != ir::NodeId::kNone && graph_.num_uses(value) == 1;
  }
  bool is_taken(DType type) const { return std::ranges::find(types_, type) != types_.end(); }
  /// The one element of a constant.
  std::optional<double> number(ir::ValueId value) const {
    const HostTensor* constant = graph_.constant(value);
    if (!constant || !is_float(constant->dtype()) || constant->volume() != 1) return std::nullopt;
    return View(*constant)[0];
  }
  /// If `id` multiplies or divides by a number: the value it does that to.
  std::optional<ir::ValueId> scaled(ir::NodeId id) {
    const ir::Node& node = graph_.node(id);
    const auto* op = node.op.as<ops::ElementWise>();
    if (!op) return std::nullopt;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const auto factor = number(node.inputs[1 - side]);
      if (!factor || !graph_.type(node.inputs[side]).same_type(graph_.type(node.outputs[0]))) continue;
      if (op->kind == ops::ElementWiseKind::kProd) return scale_ *= *factor, node.inputs[side];
      if (op->kind == ops::ElementWiseKind::kDiv && side == 0) return scale_ /= *factor, node.inputs[side];
    }
    return std::nullopt;
  }

  /// From the weights up to the product that made their scores.
  std::expected<ir::NodeId, Reject> product_of_scores(ir::ValueId probabilities, int rank) {
    const auto softmax = below_nan_guard(probabilities);
    if (!softmax) return reject("the left operand is no softmax that only this product reads");
    const auto* op = graph_.node(*softmax).op.as<ops::Softmax>();
    if (normalize_axis(op->axis, rank).value_or(-1) != rank - 1) return reject("the softmax is along axis ", op->axis);
    nodes_.push_back(*softmax);
    ir::ValueId at = graph_.node(*softmax).inputs[0];
    if (!is_taken(graph_.type(at).dtype))
      return reject("the scores are ", graph_.type(at), ", not of the kernel's types");
    for (bool may_be_masked = true; is_inner(at); may_be_masked = false) {
      const ir::NodeId id = graph_.value(at).producer;
      if (graph_.node(id).op.as<ops::MatrixMultiply>()) return id;
      if (const auto below = masked(id); below && may_be_masked)
        at = *below;
      else if (const auto unscaled = scaled(id))
        at = *unscaled;
      else
        break;
      nodes_.push_back(id);
    }
    return reject("the softmax is of no product, scaled and masked, that only it reads");
  }

  /// The softmax that makes the weights, or makes them behind Select(IsNan(w), 0, w).
  std::optional<ir::NodeId> below_nan_guard(ir::ValueId weights) {
    if (!is_inner(weights)) return std::nullopt;
    const ir::NodeId id = graph_.value(weights).producer;
    const ir::Node& node = graph_.node(id);
    if (node.op.as<ops::Softmax>()) return id;
    if (!node.op.as<ops::Select>() || number(node.inputs[1]) != 0.0) return std::nullopt;
    const ir::ValueId guarded = node.inputs[2];
    const auto* test = graph_.producer_as<ops::Unary>(node.inputs[0]);
    if (!test || test->kind != ops::UnaryKind::kIsNan || !is_inner(node.inputs[0])) return std::nullopt;
    const ir::NodeId tester = graph_.value(node.inputs[0]).producer;
    if (graph_.node(tester).inputs[0] != guarded || graph_.num_uses(guarded) != 2 ||
        !graph_.producer_as<ops::Softmax>(guarded))
      return std::nullopt;
    nodes_.insert(nodes_.end(), {id, tester});
    nan_rows_are_zero_ = true;
    return graph_.value(guarded).producer;
  }

  /// If `id` adds a mask to scores of its type: the scores.
  std::optional<ir::ValueId> masked(ir::NodeId id) {
    const ir::Node& node = graph_.node(id);
    const auto* sum = node.op.as<ops::ElementWise>();
    if (!sum || sum->kind != ops::ElementWiseKind::kSum) return std::nullopt;
    const TensorType& scores = graph_.type(node.outputs[0]);
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const TensorType& mask = graph_.type(node.inputs[1 - side]);
      if (!graph_.type(node.inputs[side]).same_type(scores) || mask.rank() != scores.rank()) continue;
      if (mask.shape.back() != scores.shape.back() || !leads_to_product(node.inputs[side])) continue;
      mask_ = node.inputs[1 - side];
      return node.inputs[side];
    }
    return std::nullopt;
  }
  bool leads_to_product(ir::ValueId value) const {
    while (is_inner(value)) {
      const ir::Node& node = graph_.node(graph_.value(value).producer);
      if (node.op.as<ops::MatrixMultiply>()) return true;
      if (!node.op.as<ops::ElementWise>()) return false;
      value = node.inputs[number(node.inputs[0]) ? 1 : 0];
    }
    return false;
  }

  /// Looks through transposes, and through factors where the scale may take them.
  Operand operand(ir::ValueId value, Scale scale, bool swapped) {
    Axes axes = identity(graph_.type(value).rank());
    while (is_inner(value)) {
      const ir::NodeId id = graph_.value(value).producer;
      const ir::Node& node = graph_.node(id);
      if (const auto* transpose = node.op.as<ops::Transpose>()) {
        for (int64_t& axis : axes) axis = transpose->perm[static_cast<size_t>(axis)];
        value = node.inputs[0];
      } else if (const auto unscaled = scale == Scale::kAbsorbed ? scaled(id) : std::nullopt) {
        value = *unscaled;
      } else {
        break;
      }
      nodes_.push_back(id);
    }
    if (swapped) std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    return {value, axes};
  }

  Match region(ir::NodeId root, int rank, const Operand& q, const Operand& k, const Operand& v, const Axes& out) {
    for (const Operand* each : {&q, &k, &v}) {
      const TensorType& type = graph_.type(each->value);
      if (type.rank() != rank || !is_taken(type.dtype))
        return reject("an operand is ", type, ", not of rank ", rank, " and the kernel's types");
    }
    if (q.axes.back() != rank - 1 || out.back() != rank - 1)
      return reject("the channels of q or of the result are not its last axis");
    std::ranges::reverse(nodes_);
    Region region{std::move(nodes_), {q.value, k.value, v.value, mask_}, {graph_.node(root).outputs[0]}, {}};
    region.data.set("q", q.axes).set("k", k.axes).set("v", v.axes).set("out", out);
    region.data.set("scale", scale_).set("nan_rows_are_zero", nan_rows_are_zero_);
    return region;
  }

  const ir::Graph& graph_;
  std::span<const DType> types_;
  std::vector<ir::NodeId> nodes_;
  ir::ValueId mask_ = ir::ValueId::kNone;
  double scale_ = 1;
  bool nan_rows_are_zero_ = false;
};

}  // namespace

Match attention_region(const TacticContext& cx, ir::NodeId root, std::span<const DType> types) {
  return Walk(cx, types).run(root);
}

}  // namespace kiln
