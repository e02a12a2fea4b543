#include "passes/join_masks.h"

#include <algorithm>

#include "ops/element_wise.h"
#include "ops/expand.h"
#include "ops/matrix_multiply.h"
#include "ops/reshape.h"
#include "ops/select.h"
#include "ops/softmax.h"
#include "passes/remove_dead.h"
#include "passes/reshape_to.h"
#include "passes/rewrite.h"
#include "tensor/refinement.h"

namespace kiln::passes {
namespace {

constexpr double kHidden = -1e30;  ///< beside it no score matters in FP32

/// What a mask adds to scores: a value, or one of two numbers that a condition selects.
struct Mask {
  ir::ValueId value = ir::ValueId::kNone;
  ir::ValueId condition = ir::ValueId::kNone;
  double where_true = 0, where_false = 0;
  Shape scores;  ///< that it is added to
};

/// A walk from a softmax's operand up to scores as a product leaves them, scaled perhaps.
class Walk {
 public:
  explicit Walk(const ir::Graph& graph) : graph_(graph) {}

  /// Whether there are scores, under more masks than one sum.
  bool run(ir::ValueId x) {
    bool is_plain = true, was_plain = true;
    ir::ValueId last = x;  // that has the operand's shape
    size_t num_masks = 0;
    for (scores_ = x; is_inner(scores_);) {
      const ir::Node& node = graph_.node(graph_.value(scores_).producer);
      if (const auto below = summed(node)) {
        const ir::ValueId mask = node.inputs[*below == node.inputs[0] ? 1 : 0];
        masks_.push_back({.value = mask, .scores = graph_.type(scores_).shape});
        scores_ = *below;
      } else if (const auto hidden = selected(node)) {
        masks_.push_back(*hidden);
        scores_ = node.inputs[hidden->where_true == 0 ? 1 : 2];
        is_plain = false;
      } else if (node.op.as<ops::Reshape>()) {
        scores_ = node.inputs[0];
        is_plain = false;
      } else {
        break;
      }
      if (graph_.type(scores_).same_type(graph_.type(x)))
        last = scores_, num_masks = masks_.size(), was_plain = is_plain;
    }
    scores_ = last;
    masks_.resize(num_masks);
    return num_masks > 0 && (num_masks > 1 || !was_plain) && leads_to_product(scores_);
  }

  ir::ValueId scores() const { return scores_; }
  const std::vector<Mask>& masks() const { return masks_; }

 private:
  bool is_inner(ir::ValueId value) const {
    return graph_.value(value).producer != ir::NodeId::kNone && graph_.num_uses(value) == 1;
  }
  /// The operand of a sum that comes from scores.
  std::optional<ir::ValueId> summed(const ir::Node& node) const {
    const auto* op = node.op.as<ops::ElementWise>();
    if (!op || op->kind != ops::ElementWiseKind::kSum) return std::nullopt;
    for (const ir::ValueId side : node.inputs)
      if (graph_.type(side).same_type(graph_.type(node.outputs[0])) && leads_to_product(side)) return side;
    return std::nullopt;
  }
  std::optional<Mask> selected(const ir::Node& node) const {
    if (!node.op.as<ops::Select>()) return std::nullopt;
    const TensorType& type = graph_.type(node.outputs[0]);
    for (const size_t side : {size_t{1}, size_t{2}}) {
      const auto hidden = ir::uniform_constant(graph_, node.inputs[3 - side]);
      if (!hidden || !(*hidden <= kHidden) || type.dtype != DType::kF32) continue;
      if (!graph_.type(node.inputs[side]).same_type(type) || !leads_to_product(node.inputs[side])) continue;
      return Mask{.condition = node.inputs[0],
                  .where_true = side == 1 ? 0 : *hidden,
                  .where_false = side == 1 ? *hidden : 0,
                  .scores = type.shape};
    }
    return std::nullopt;
  }
  bool leads_to_product(ir::ValueId value) const {
    while (is_inner(value)) {
      const ir::Node& node = graph_.node(graph_.value(value).producer);
      if (node.op.as<ops::MatrixMultiply>())
        return graph_.type(value).rank() > 2 && !graph_.constant(node.inputs[0]) && !graph_.constant(node.inputs[1]);
      if (const auto* op = node.op.as<ops::ElementWise>()) {
        const auto below = summed(node);
        const bool scales = op->kind == ops::ElementWiseKind::kProd || op->kind == ops::ElementWiseKind::kDiv;
        if (!below && !(scales && ir::uniform_constant(graph_, node.inputs[1]))) return false;
        value = below.value_or(node.inputs[0]);
      } else if (node.op.as<ops::Reshape>()) {
        value = node.inputs[0];
      } else if (const auto hidden = selected(node)) {
        value = node.inputs[hidden->where_true == 0 ? 1 : 2];
      } else {
        return false;
      }
    }
    return false;
  }

  const ir::Graph& graph_;
  ir::ValueId scores_ = ir::ValueId::kNone;
  std::vector<Mask> masks_;
};

Result<ir::ValueId> repeated(ir::Patch& patch, ir::ValueId x, const Shape& shape) {
  if (patch.type(x).shape == shape) return x;
  return patch.add(ops::Expand{}, {x, TRY(patch.add_values({shape.begin(), shape.end()}))});
}

/// Reshapes a mask for scores of shape `from` so that it fits scores of shape `to`. It is repeated only along axes that
/// the reshape joins with an axis along which the mask differs. Nothing if the shapes have no common pieces.
Result<std::optional<ir::ValueId>> reshaped_mask(ir::Patch& patch, ir::ValueId mask, const Shape& from,
                                                 const Shape& to) {
  if (from == to) return mask;
  const auto refined = refine(from, to);
  if (!refined) return std::nullopt;
  Shape shape = patch.type(mask).shape;
  for (size_t axis = 0; axis < from.size(); ++axis)
    if (shape[axis] != sym::Expr(1)) shape[axis] = from[axis];  // it may be 1 at run time, which no reshape can know
  std::vector<bool> repeats(refined->pieces.size(), false);     // by piece: the mask has one index along it
  const auto mark = [&] {
    for (size_t axis = 0; axis < from.size(); ++axis)
      for (const int64_t piece : refined->from[axis])
        repeats[static_cast<size_t>(piece)] = shape[axis] == sym::Expr(1) && from[axis] != sym::Expr(1);
  };
  const auto is_mixed = [&](const std::vector<int64_t>& pieces) {
    const auto does = [&](int64_t piece) { return repeats[static_cast<size_t>(piece)]; };
    return std::ranges::any_of(pieces, does) && !std::ranges::all_of(pieces, does);
  };
  mark();
  for (bool changed = true; changed; mark()) {
    changed = false;
    for (const std::vector<int64_t>& pieces : refined->to) {
      if (!is_mixed(pieces)) continue;
      for (size_t axis = 0; axis < from.size(); ++axis)
        for (const int64_t piece : refined->from[axis])
          if (repeats[static_cast<size_t>(piece)] && std::ranges::find(pieces, piece) != pieces.end())
            shape[axis] = from[axis], changed = true;
    }
  }
  const ir::ValueId wide = TRY(repeated(patch, mask, shape));
  Shape result = to;
  for (size_t axis = 0; axis < to.size(); ++axis)
    if (const auto& pieces = refined->to[axis]; !pieces.empty() && repeats[static_cast<size_t>(pieces[0])])
      result[axis] = 1;
  return TRY(reshape_to(patch, wide, result));
}

Result<ir::ValueId> value_of(ir::Patch& patch, const Mask& mask) {
  if (mask.value != ir::ValueId::kNone) return mask.value;
  const Extents ones(mask.scores.size(), 1);
  const auto number = [&](double x) { return patch.add_constant(HostTensor::of(DType::kF32, ones, std::span(&x, 1))); };
  const ir::ValueId where_true = number(mask.where_true), where_false = number(mask.where_false);
  return patch.add(ops::Select{}, {mask.condition, where_true, where_false});
}

Status join(const ir::Capture& found, ir::Patch& patch) {
  Walk walk(found.graph());
  if (!walk.run(found.value("x"))) return {};
  ir::Patch attempt(found.graph());
  const Shape& to = found.graph().type(walk.scores()).shape;
  ir::ValueId all = ir::ValueId::kNone;
  for (const Mask& mask : walk.masks()) {
    const auto moved = TRY(reshaped_mask(attempt, TRY(value_of(attempt, mask)), mask.scores, to));
    if (!moved) return {};
    all = all == ir::ValueId::kNone ? *moved
                                    : TRY(attempt.add(ops::ElementWise{ops::ElementWiseKind::kSum}, {*moved, all}));
  }
  const ir::ValueId masked = TRY(attempt.add(ops::ElementWise{ops::ElementWiseKind::kSum}, {walk.scores(), all}));
  TRY(attempt.replace(found.value("x"), masked));
  patch = std::move(attempt);
  return {};
}

}  // namespace

Status join_masks(ir::Graph& graph, PassContext& cx) {
  if (cx.refittable) return {};  // the constants that decide may become others
  const ir::Pattern softmax = ir::op<ops::Softmax>("y", ir::any("x"));
  TRY(rewrite(graph, softmax, [&](const ir::Capture& found, ir::Patch& patch) -> Status {
    if (cx.strongly_typed && found.type("x").dtype != DType::kF32) return {};
    return join(found, patch);
  }));
  return remove_dead(graph, cx);  // sums that nobody reads are users of what attention reads alone
}

}  // namespace kiln::passes
