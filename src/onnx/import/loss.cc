// Losses by class labels.
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/gather.h"
#include "ops/squeeze.h"

namespace kiln::onnx::importers {
namespace {

/// The negated log-probability of each label, times its class's weight; 0 where the label is the one to ignore.
/// Reduced as the node says: a mean is over the weights of labels that count.
Result<ValueId> loss_of(ImportContext& cx, ValueId log_probabilities, ValueId labels, ValueId class_weights) {
  const int rank = cx.rank(log_probabilities);
  TRY(require(rank >= 2 && cx.rank(labels) == rank - 1, "the scores are ", cx.type(log_probabilities),
              " and the labels ", cx.type(labels), "; labels have one axis less, and scores two at least"));
  const std::string_view reduction = TRY(cx.node().get_string("reduction", "mean"));
  TRY(require(reduction == "none" || reduction == "sum" || reduction == "mean", "reduction '", reduction,
              "'; none, sum and mean are known"));
  ValueId counted = ValueId::kNone;
  if (cx.node().find("ignore_index")) {
    const ValueId ignored = TRY(
        binary(cx, ElementWiseKind::kEqual, labels, static_cast<double>(TRY(cx.node().get_int("ignore_index", 0)))));
    counted = TRY(unary(cx, UnaryKind::kNot, ignored));
    labels = TRY(select(cx, counted, labels, scalar_like(cx, 0, labels)));  // one that is ignored may be no class
  }
  const ValueId picked = TRY(cx.add(ops::Gather{.mode = GatherMode::kElement, .axis = 1},
                                    {log_probabilities, TRY(unsqueeze(cx, labels, {1}))}));
  ValueId loss = TRY(unary(cx, UnaryKind::kNeg, TRY(cx.add(ops::Squeeze{{1}}, {picked}))));
  ValueId weights = ValueId::kNone;
  if (class_weights != ValueId::kNone) weights = TRY(cx.add(ops::Gather{.axis = 0}, {class_weights, labels}));
  if (counted != ValueId::kNone) {
    const ValueId zero = scalar_like(cx, 0, loss);
    const ValueId ones = weights != ValueId::kNone ? weights : scalar_like(cx, 1, loss);
    weights = TRY(select(cx, counted, ones, zero));
  }
  if (weights != ValueId::kNone) loss = TRY(binary(cx, ElementWiseKind::kProd, loss, weights));
  if (reduction == "none") return loss;
  const Ints all = axes_between(0, rank - 1);
  if (weights == ValueId::kNone)
    return reduce(cx, reduction == "sum" ? ReduceKind::kSum : ReduceKind::kAvg, loss, all, false);
  const ValueId sum = TRY(reduce(cx, ReduceKind::kSum, loss, all, false));
  if (reduction == "sum") return sum;
  return binary(cx, ElementWiseKind::kDiv, sum, TRY(reduce(cx, ReduceKind::kSum, weights, all, false)));
}

}  // namespace

Status negative_log_likelihood_loss(ImportContext& cx) {
  const ValueId scores = TRY(cx.input(0)), labels = TRY(cx.input(1));
  return cx.output(TRY(loss_of(cx, scores, labels, cx.optional_input(2))));
}

Status softmax_cross_entropy_loss(ImportContext& cx) {
  const ValueId scores = TRY(cx.input(0)), labels = TRY(cx.input(1));
  TRY(require(cx.rank(scores) >= 2, "the scores are ", cx.type(scores), "; two axes at least are needed"));
  const ValueId log = TRY(log_softmax_along(cx, scores, 1));
  TRY(cx.output(TRY(loss_of(cx, log, labels, cx.optional_input(2)))));
  return cx.wants(1) ? cx.output(1, log) : Status();
}

}  // namespace kiln::onnx::importers
