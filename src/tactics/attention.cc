#include "tactics/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "ops/concatenation.h"
#include "ops/dequantize.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/quantize.h"
#include "ops/select.h"
#include "ops/softmax.h"
#include "ops/transpose.h"
#include "ops/unary.h"
#include "steps/attention.h"
#include "steps/attention_layout.h"
#include "tactics/step_draft.h"
#include "tactics/strided_view.h"
#include "tensor/view.h"

namespace kiln {
namespace {

/// Walks from the result to q, k and v. Nodes are noted on the way, consumers first.
class Walk {
 public:
  Walk(const TacticContext& cx, const AttentionReach& reach) : graph_(cx.graph), reach_(reach) {}

  Match run(ir::NodeId root) {
    ir::NodeId product = root;
    StridedView out = whole_view(graph_, graph_.node(root).outputs[0]);
    if (graph_.node(root).op.as<ops::Quantize>()) {
      const auto quantized = quantized_result(graph_, root, reach_.results);
      if (!quantized) return std::unexpected(quantized.error());
      if (!is_inner(quantized->x)) return reject("other nodes read the value that is quantized");
      quantized_ = *quantized;
      nodes_.push_back(root);
      product = graph_.value(quantized->x).producer;
    }
    if (const auto* transpose = graph_.node(product).op.as<ops::Transpose>()) {
      const Shape strides = out.strides;
      for (size_t i = 0; i < strides.size(); ++i) out.strides[static_cast<size_t>(transpose->perm[i])] = strides[i];
      const ir::ValueId moved = graph_.node(product).inputs[0];
      if (!is_inner(moved)) return reject("other nodes read the value that is transposed");
      nodes_.push_back(product);
      product = graph_.value(moved).producer;
    }
    const auto* weighted = graph_.node(product).op.as<ops::MatrixMultiply>();
    if (!weighted || weighted->a != ops::MatrixOp::kNone || weighted->b == ops::MatrixOp::kVector)
      return reject("this is not a matrix product of weights and values");
    out.extents = graph_.output_type(product).shape;
    const int rank = graph_.output_type(product).rank();
    if (rank < 3 || rank > 5) return reject("the product has rank ", rank, "; attention has 3 to 5 axes");
    nodes_.push_back(product);
    const ir::ValueId probabilities = graph_.node(product).inputs[0], v = graph_.node(product).inputs[1];
    const auto scores = product_of_scores(probabilities, rank);
    if (!scores) return std::unexpected(scores.error());
    const auto* dots = graph_.node(*scores).op.as<ops::MatrixMultiply>();
    if (dots->a == ops::MatrixOp::kVector || dots->b == ops::MatrixOp::kVector)
      return reject("the scores are a product with a vector");
    nodes_.push_back(*scores);
    const ir::ValueId q = graph_.node(*scores).inputs[0], k = graph_.node(*scores).inputs[1];
    const bool q_swapped = dots->a == ops::MatrixOp::kTranspose, k_swapped = dots->b == ops::MatrixOp::kNone;
    const bool strided = reach_.strided_k_and_v;
    operands_[0] = operand(q, Scale::kAbsorbed, q_swapped, false);
    const size_t nodes_before = nodes_.size();
    const double scale_before = scale_;
    for (const bool may_share : {true, false}) {
      nodes_.resize(nodes_before);
      scale_ = scale_before;
      value_scale_ = 1;
      may_share_ = may_share;
      operands_[1] = operand(k, Scale::kAbsorbed, k_swapped, strided);
      operands_[2] = operand(v, Scale::kLeft, weighted->b == ops::MatrixOp::kTranspose, strided);
      if (rank != 4 || !operands_[1] || !operands_[2] || operands_[1]->extents[1] == operands_[2]->extents[1]) break;
    }
    shares_heads_ = rank == 4 && operands_[1] && operands_[1]->extents[1] != graph_.type(k).shape[1];
    return region(root, std::move(out));
  }

 private:
  enum class Scale : uint8_t { kLeft, kAbsorbed };

  /// Whether a node makes the value, and only the node from which the walk came reads it.
  bool is_inner(ir::ValueId value) const {
    return graph_.value(value).producer != ir::NodeId::kNone && graph_.num_uses(value) == 1;
  }
  bool is_taken(DType type) const { return std::ranges::find(reach_.types, type) != reach_.types.end(); }
  /// The one element of a constant.
  std::optional<double> number(ir::ValueId value) const {
    const HostTensor* constant = graph_.constant(value);
    if (!constant || !is_float(constant->dtype()) || constant->volume() != 1) return std::nullopt;
    return View(*constant)[0];
  }
  /// A value that a node multiplies by a number, or divides by its inverse.
  struct Scaled {
    ir::ValueId value;
    double factor;
  };
  std::optional<Scaled> scaled(ir::NodeId id) const {
    const ir::Node& node = graph_.node(id);
    const auto* op = node.op.as<ops::ElementWise>();
    if (!op) return std::nullopt;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const auto factor = number(node.inputs[1 - side]);
      if (!factor || !graph_.type(node.inputs[side]).same_type(graph_.type(node.outputs[0]))) continue;
      if (op->kind == ops::ElementWiseKind::kProd) return Scaled{node.inputs[side], *factor};
      if (op->kind == ops::ElementWiseKind::kDiv && side == 0) return Scaled{node.inputs[side], 1 / *factor};
    }
    return std::nullopt;
  }

  /// Finds, from the weights up, the product that made their scores.
  std::expected<ir::NodeId, Reject> product_of_scores(ir::ValueId probabilities, int rank) {
    const auto rounded = reads_bytes() ? below_rounding(probabilities) : probabilities;
    if (!rounded) return std::unexpected(rounded.error());
    const auto softmax = below_nan_guard(*rounded);
    if (!softmax) return reject("the left operand is not a softmax, or others read it too");
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
        at = unscaled->value, scale_ *= unscaled->factor;
      else
        break;
      nodes_.push_back(id);
    }
    return reject("the softmax does not read a matrix product, perhaps scaled and masked, that it alone reads");
  }

  bool reads_bytes() const { return reach_.operands != QuantizedTo::kNothing; }
  /// Whether kernels of bytes read the type.
  bool is_operand(DType type) const {
    return type == DType::kI8 || (type == DType::kF8E4M3 && reach_.operands == QuantizedTo::kIntegersAndFp8);
  }
  /// The scale of a Quantize or Dequantize by one positive constant, without a zero point or with one that is 0.
  std::optional<double> scale_of(const ir::Node& node) const {
    const auto scale = number(node.inputs[1]);
    if (!scale || !(*scale > 0) || !std::isfinite(*scale)) return std::nullopt;
    if (node.inputs.size() < 3 || node.inputs[2] == ir::ValueId::kNone) return scale;
    const HostTensor* zero = graph_.constant(node.inputs[2]);
    return zero && zero->volume() == 1 && View(*zero)[0] == 0 ? scale : std::nullopt;
  }
  /// Weights before they were rounded to bytes and became numbers again, by one scale; themselves where they were not.
  std::expected<ir::ValueId, Reject> below_rounding(ir::ValueId weights) {
    if (!graph_.producer_as<ops::Dequantize>(weights)) return weights;
    if (!is_inner(weights)) return reject("others read the weights that are dequantized");
    const ir::NodeId above = graph_.value(weights).producer;
    const ir::ValueId bytes = graph_.node(above).inputs[0];
    if (!is_operand(graph_.type(bytes).dtype) || !is_inner(bytes) || !graph_.producer_as<ops::Quantize>(bytes))
      return reject("the weights are dequantized, but not quantized right before to bytes that kernels take");
    const ir::NodeId below = graph_.value(bytes).producer;
    const auto scale = scale_of(graph_.node(above));
    if (!scale || scale_of(graph_.node(below)) != scale)
      return reject("the weights are not quantized and dequantized by one constant scale without a zero point");
    nodes_.insert(nodes_.end(), {above, below});
    weight_scale_ = *scale;
    weight_type_ = graph_.type(bytes).dtype;
    return graph_.node(below).inputs[0];
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

  /// A node between an operand and the value that the kernel reads instead.
  struct Link {
    ir::NodeId node;
    ir::ValueId value;             ///< the node's input
    std::optional<double> factor;  ///< what the node multiplies by; nothing if it moves elements
  };
  /// Walks up through nodes that move elements, and through factors if the scale may absorb them; where kernels read
  /// bytes, to these. It returns the
  /// farthest value in whose memory the operand's elements lie at regular steps, those of a row side by side.
  std::optional<StridedView> operand(ir::ValueId value, Scale scale, bool swapped, bool strided) {
    std::vector<Link> links;  // consumers first
    size_t least = 0;         // of the links, so many have to be followed
    for (ir::ValueId at = value; is_inner(at); at = links.back().value) {
      const ir::NodeId id = graph_.value(at).producer;
      if (reads_bytes() && graph_.node(id).op.as<ops::Dequantize>()) {
        const auto by = scale_of(graph_.node(id));
        if (!by) return std::nullopt;
        links.push_back({id, graph_.node(id).inputs[0], by});
        least = links.size();
      } else if (const auto unscaled = scale == Scale::kAbsorbed ? scaled(id) : std::nullopt)
        links.push_back({id, unscaled->value, unscaled->factor});
      else if (may_be_viewed(graph_, id))
        links.push_back({id, graph_.node(id).inputs[0], std::nullopt});
      else
        break;
    }
    for (size_t count = links.size() + 1; count-- > least;) {
      const auto used = std::span(links).first(count);
      auto view = through(used, value);
      if (!view) continue;
      const size_t last = view->extents.size() - 1;
      if (swapped) {
        std::swap(view->extents[last], view->extents[last - 1]);
        std::swap(view->strides[last], view->strides[last - 1]);
      }
      if (view->extents[last] == sym::Expr(1)) view->strides[last] = 1;
      if (!strided && view->strides[last] != sym::Expr(1)) continue;
      for (const Link& link : used) {
        nodes_.push_back(link.node);
        (scale == Scale::kAbsorbed ? scale_ : value_scale_) *= link.factor.value_or(1);
      }
      return view;
    }
    return std::nullopt;
  }
  /// `value`, made by the links, in the memory of what the last of them reads.
  std::optional<StridedView> through(std::span<const Link> links, ir::ValueId value) const {
    std::optional<StridedView> view = whole_view(graph_, links.empty() ? value : links.back().value);
    bool shared = false;
    for (size_t i = links.size(); view && i-- > 0;) {
      if (links[i].factor) continue;
      const ir::Node& node = graph_.node(links[i].node);
      const auto* transpose = node.op.as<ops::Transpose>();
      if (shared && (!transpose || transpose->perm[0] != 0 || transpose->perm[1] != 1)) return std::nullopt;
      auto moved = moved_view(graph_, links[i].node, *view);
      if (!moved && may_share_) moved = one_of_each(*view, graph_.type(node.outputs[0]).shape), shared = true;
      view = std::move(moved);
    }
    return view;
  }
  /// Sees heads that several query heads share once each: [batch, head, repeated, row, channel] becomes [batch, head,
  /// row,
  /// channel].
  static std::optional<StridedView> one_of_each(const StridedView& x, const Shape& to) {
    const Shape& e = x.extents;
    if (e.size() != 5 || x.strides[2] != sym::Expr(0) || to != Shape{e[0], e[1] * e[2], e[3], e[4]})
      return std::nullopt;
    const Shape& s = x.strides;
    return StridedView{x.source, x.offset, {e[0], e[1], e[3], e[4]}, {s[0], s[1], s[3], s[4]}};
  }

  /// Two tensors whose rows a Concatenation joins to those of an operand, along axes of [batch, head, row, channel].
  struct Parts {
    StridedView first, more;
  };
  /// Whether a view of [batch, head, row, channel] reads all of a tensor in its order. A tensor of one sequence or one
  /// head may repeat it; along an axis of one element any stride does.
  static bool is_all_of(const StridedView& view, const StridedView& whole) {
    for (size_t axis = 0; axis < whole.extents.size(); ++axis) {
      const bool is_whole = view.extents[axis] == whole.extents[axis], is_one = whole.extents[axis] == sym::Expr(1);
      const bool repeats = axis < 2 && is_one && view.strides[axis] == sym::Expr(0);
      if (!repeats && (!is_whole || (!is_one && view.strides[axis] != whole.strides[axis]))) return false;
    }
    return view.offset == sym::Expr(0);
  }
  /// The parts of k or v, whose view is all of a Concatenation that nobody else reads. Notes the nodes.
  std::optional<Parts> parts_of(const StridedView& joined) {
    const ir::ValueId value = joined.source;
    const auto* op = graph_.producer_as<ops::Concatenation>(value);
    if (!op || !is_inner(value)) return std::nullopt;
    const ir::NodeId id = graph_.value(value).producer;
    const std::vector<ir::ValueId>& inputs = graph_.node(id).inputs;
    const StridedView whole = whole_view(graph_, value);
    constexpr int kRows = 2;
    if (inputs.size() != 2 || whole.extents.size() != 4 || normalize_axis(op->axis, 4).value_or(-1) != kRows ||
        !is_all_of(joined, whole))
      return std::nullopt;
    nodes_.push_back(id);
    const StridedView more = rows_behind(inputs[1]), first = rows_behind(inputs[0]);
    return Parts{first, more};
  }
  /// The value in the memory of what nodes that only move it read, as far as its channels stay side by side.
  StridedView rows_behind(ir::ValueId value) {
    std::vector<Link> links;
    for (ir::ValueId at = value; is_inner(at); at = links.back().value) {
      const ir::NodeId id = graph_.value(at).producer;
      if (!may_be_viewed(graph_, id)) break;
      links.push_back({id, graph_.node(id).inputs[0], std::nullopt});
    }
    for (;; links.pop_back()) {
      std::optional<StridedView> view = whole_view(graph_, links.empty() ? value : links.back().value);
      for (size_t i = links.size(); view && i-- > 0;) view = moved_view(graph_, links[i].node, *view);
      if (!view || view->strides.back() != sym::Expr(1)) continue;
      for (const Link& link : links) nodes_.push_back(link.node);
      return *view;
    }
  }
  /// Replaces k and v by the first of the parts that they are joined of.
  std::optional<Reject> split_keys() {
    for (const size_t i : {1, 2}) {
      parts_[i - 1] = operands_[i] ? parts_of(*operands_[i]) : std::nullopt;
      if (!parts_[i - 1]) return Reject{"keys and values are not joined of two tensors for this attention alone"};
    }
    if (parts_[0]->first.extents[2] != parts_[1]->first.extents[2])
      return Reject{"keys and values are joined of tensors of different lengths"};
    keys_ = operands_[1]->extents[2];
    for (const size_t i : {1, 2}) operands_[i] = parts_[i - 1]->first;
    return std::nullopt;
  }

  /// Why kernels of bytes do not take the mask, the weights or what becomes the result; nothing where they do, or where
  /// kernels read floats.
  std::optional<Reject> refused_bytes(ir::ValueId floats) const {
    if (!reads_bytes()) return std::nullopt;
    const DType type = graph_.type(floats).dtype, q = graph_.type(operands_[0]->source).dtype;
    if (!is_taken(type)) return Reject{str("the result is ", graph_.type(floats), ", not of the kernel's types")};
    if (mask_ != ir::ValueId::kNone && graph_.type(mask_).dtype != type)
      return Reject{str("the result is ", graph_.type(floats), ", the mask ", graph_.type(mask_))};
    if (weight_scale_ != 0 && weight_type_ != q)
      return Reject{str("weights are rounded to ", weight_type_, ", operands are ", q)};
    return std::nullopt;
  }

  Match region(ir::NodeId root, StridedView out) {
    const size_t rank = out.extents.size();
    if (reach_.joined_keys)
      if (auto refused = split_keys()) return std::unexpected(std::move(*refused));
    for (const auto& each : operands_) {
      if (!each)
        return reject("the channels of an operand do not lie side by side",
                      reads_bytes() ? ", or it is not dequantized by one constant scale without a zero point" : "");
      const TensorType& type = graph_.type(each->source);
      if (each->extents.size() != rank || !(reads_bytes() ? is_operand(type.dtype) : is_taken(type.dtype)))
        return reject("an operand is ", type, ", not of the kernel's types, or has not ", rank, " axes");
    }
    if (out.extents.back() == sym::Expr(1)) out.strides.back() = 1;
    if (out.strides.back() != sym::Expr(1)) return reject("the channels of the result are not its last axis");
    StridedView mask{mask_, 0, Shape(rank, 1), Shape(rank, 0)};
    if (mask_ != ir::ValueId::kNone) mask = whole_view(graph_, mask_);
    mask.strides.back() = 1;
    if (rank == 5 && !join_two_axes(out, mask))
      return reject("it has five axes, of which no two can be joined in every operand's memory");
    std::ranges::reverse(nodes_);
    const auto& [q, k, v] = operands_;
    Region region{std::move(nodes_), {q->source, k->source, v->source, mask_}, {graph_.node(root).outputs[0]}, {}};
    const ir::ValueId floats = quantized_ ? quantized_->x : region.outputs[0];
    std::vector<ir::ValueId> others{k->source, v->source};
    if (!reads_bytes()) others.insert(others.end(), {mask_, floats});
    if (const auto refused = refused_bytes(floats)) return std::unexpected(*refused);
    if (reach_.joined_keys)
      for (const auto& parts : parts_) {
        region.inputs.push_back(parts->more.source);
        others.push_back(parts->more.source);
      }
    if (quantized_) region.inputs.insert(region.inputs.end(), {quantized_->scale, quantized_->zero});
    for (const ir::ValueId value : others)
      if (value != ir::ValueId::kNone && graph_.type(value).dtype != graph_.type(q->source).dtype)
        return reject("q is ", graph_.type(q->source), ", another operand ", graph_.type(value));
    region.data = to_record(steps::Attention{.scale = scale_,
                                             .nan_rows_are_zero = nan_rows_are_zero_,
                                             .value_scale = value_scale_,
                                             .weight_scale = weight_scale_});
    const size_t axes = out.extents.size();
    region.params = {out.extents[0],        axes == 4 ? out.extents[1] : 1,
                     out.extents[axes - 2], reach_.joined_keys ? keys_ : k->extents[axes - 2],
                     q->extents[axes - 1],  out.extents[axes - 1]};
    for (const auto& each : operands_) add_operand(*each, out.extents, axes - 2, region.params);
    add_operand(mask, out.extents, axes - 1, region.params);
    add_operand(out, out.extents, axes - 2, region.params);
    // A single head is shared by a step of 0. If heads may be one at run time, the step becomes 0 when shapes are
    // bound.
    const bool one_for_all = axes == 3 || k->extents[1] == sym::Expr(1) || v->extents[1] == sym::Expr(1);
    region.params.push_back(one_for_all || !shares_heads_ ? region.params[1] : k->extents[1]);
    CHECK(region.params.size() == AttentionLayout::kNumParams);
    if (!reach_.joined_keys) return region;
    region.params.push_back(parts_[0]->first.extents[2]);
    for (const auto& parts : parts_) add_operand(parts->more, out.extents, axes - 2, region.params);
    return region;
  }
  /// Makes the batch of two of the first three axes, where in every operand one lies behind the other or neither
  /// counts.
  bool join_two_axes(StridedView& out, StridedView& mask) {
    const std::array all{&*operands_[0], &*operands_[1], &*operands_[2], &mask, &out};
    for (const auto& [outer, inner] : {std::pair<size_t, size_t>{0, 1}, {0, 2}, {1, 2}}) {
      const auto is_one = [&, outer = outer, inner = inner](const StridedView* view) {
        const auto is_whole = [&](size_t axis) { return view->extents[axis] == out.extents[axis]; };
        const auto is_single = [&](size_t axis) { return view->extents[axis] == sym::Expr(1); };
        if (is_single(outer) && is_single(inner)) return true;
        return is_whole(outer) && is_whole(inner) &&
               (is_single(outer) || view->strides[outer] == view->strides[inner] * view->extents[inner]);
      };
      if (!std::ranges::all_of(all, is_one)) continue;
      for (StridedView* view : all) {
        const size_t rest = 3 - outer - inner;
        const sym::Expr joined = view->extents[outer] * view->extents[inner];
        view->extents = {joined, view->extents[rest], view->extents[3], view->extents[4]};
        view->strides = {view->strides[inner], view->strides[rest], view->strides[3], view->strides[4]};
      }
      return true;
    }
    return false;
  }
  /// Appends an operand's offset and its strides of batch, head, row and column. One of the first `repeating` axes with
  /// extent 1 gets stride 0, so that it repeats.
  static void add_operand(const StridedView& operand, const Shape& out, size_t repeating, Shape& params) {
    params.push_back(operand.offset);
    for (size_t axis = 0; axis < out.size(); ++axis) {
      const sym::Expr extent = operand.extents[axis], stride = operand.strides[axis];
      const bool repeats = axis < repeating && extent != out[axis];
      params.push_back(repeats ? stride * (sym::Expr(1) - sym::equal(extent, 1)) : stride);
      if (axis == 0 && out.size() == 3) params.push_back(0);  // one head
    }
  }

  const ir::Graph& graph_;
  AttentionReach reach_;
  std::vector<ir::NodeId> nodes_;
  std::array<std::optional<StridedView>, 3> operands_;  // q, k, v
  ir::ValueId mask_ = ir::ValueId::kNone;
  std::array<std::optional<Parts>, 2> parts_;  // of k and v, where keys are joined
  sym::Expr keys_;                             // then: of both parts
  double scale_ = 1, value_scale_ = 1;
  double weight_scale_ = 0;          // of weights that are rounded to bytes
  DType weight_type_ = DType::kF32;  // then: the bytes
  bool may_share_ = true;            // whether k and v may be seen as they are before heads repeat them
  bool shares_heads_ = false;        // whether they are
  bool nan_rows_are_zero_ = false;
  std::optional<QuantizedResult> quantized_;  // the region's last node
};

}  // namespace

Match attention_region(const TacticContext& cx, ir::NodeId root, const AttentionReach& reach) {
  return Walk(cx, reach).run(root);
}

Result<StepDraft> AttentionRegions::draft(const TacticContext&, const Region& region, const Variant&) {
  StepDraft draft = step_draft(TRY(from_record<steps::Attention>(region.data)));
  draft.params = region.params;
  return draft;
}

}  // namespace kiln
