#include "onnx/import/post_transform.h"

#include <array>
#include <numbers>

#include "onnx/import/bodies.h"
#include "ops/concatenation.h"
#include "ops/softmax.h"

namespace kiln::onnx {
namespace {

using enum ElementWiseKind;

constexpr std::array<std::string_view, kNumPostTransforms> kNames = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                                                     "PROBIT"};

/// A softmax that leaves scores of 0 out, and gives those that are nearly 0 about 0.
Result<ValueId> softmax_zero(ImportContext& cx, ValueId scores) {
  constexpr double kNearlyZero = 1e-7;
  const ValueId most = TRY(reduce(cx, ReduceKind::kMax, scores, {1}, true));
  const ValueId counts = TRY(binary(cx, kGreater, TRY(unary(cx, UnaryKind::kAbs, scores)), kNearlyZero));
  const ValueId power = TRY(unary(cx, UnaryKind::kExp, TRY(binary(cx, kSub, scores, most))));
  const ValueId shrunk =
      TRY(binary(cx, kProd, scores, TRY(unary(cx, UnaryKind::kExp, TRY(unary(cx, UnaryKind::kNeg, most))))));
  const ValueId sum =
      TRY(reduce(cx, ReduceKind::kSum, TRY(select(cx, counts, power, scalar_like(cx, 0, power))), {1}, true));
  return binary(cx, kDiv, TRY(select(cx, counts, power, shrunk)), sum);
}

/// The quantile of the normal distribution: sqrt(2) * erfinv(2 * p - 1), with Winitzki's approximation of erfinv by
/// logarithms and roots, which ONNX's reference and ONNX Runtime use.
Result<ValueId> probit(ImportContext& cx, ValueId p) {
  constexpr double kWinitzki = 0.147;
  const ValueId x = TRY(binary(cx, kSub, TRY(binary(cx, kProd, p, 2)), 1));
  const ValueId less = TRY(binary(cx, kSum, TRY(unary(cx, UnaryKind::kNeg, x)), 1)), more = TRY(binary(cx, kSum, x, 1));
  const ValueId log = TRY(unary(cx, UnaryKind::kLog, TRY(binary(cx, kProd, less, more))));
  const ValueId half = TRY(binary(cx, kSum, TRY(binary(cx, kProd, log, 0.5)), 2 / (std::numbers::pi * kWinitzki)));
  const ValueId square =
      TRY(binary(cx, kSub, TRY(binary(cx, kProd, half, half)), TRY(binary(cx, kDiv, log, kWinitzki))));
  const ValueId inner = TRY(binary(cx, kSub, TRY(unary(cx, UnaryKind::kSqrt, square)), half));
  const ValueId size = TRY(binary(cx, kProd, TRY(unary(cx, UnaryKind::kSqrt, inner)), std::numbers::sqrt2));
  const ValueId is_below = TRY(binary(cx, kLess, x, 0));
  return select(cx, is_below, TRY(unary(cx, UnaryKind::kNeg, size)), size);
}

/// Tells that ONNX Runtime does not do to a single target what the specification says.
void warn_of_one_target(ImportContext& cx, PostTransform by) {
  const std::string warning = str(cx.def(), ": post_transform ", kNames[static_cast<size_t>(by)],
                                  " is applied to the one target, as ONNX-ML says; ONNX Runtime leaves it as it is");
  cx.bodies().warn({&warning, 1});
}

}  // namespace

Result<PostTransform> post_transform_of(ImportContext& cx) {
  const std::string_view name = TRY(cx.node().get_string("post_transform", "NONE"));
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<PostTransform>(i);
  return error(Code::kInvalidArgument, "post_transform is '", name,
               "'; NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT is needed");
}

Result<ValueId> post_transformed(ImportContext& cx, ValueId scores, PostTransform by) {
  const bool is_one = cx.extent(scores, 1) == sym::Expr(1);
  if (is_one && by != PostTransform::kNone && by != PostTransform::kProbit) warn_of_one_target(cx, by);
  switch (by) {
    case PostTransform::kNone: return scores;
    case PostTransform::kSoftmax: return cx.add(ops::Softmax{1}, {scores});
    case PostTransform::kLogistic: return activation(cx, ActivationKind::kSigmoid, scores);
    case PostTransform::kSoftmaxZero: return softmax_zero(cx, scores);
    case PostTransform::kProbit: return probit(cx, scores);
  }
  return scores;
}

Result<ValueId> two_scores(ImportContext& cx, ValueId score, OtherScore other, PostTransform by) {
  if (by == PostTransform::kProbit)
    return error(Code::kUnsupported, "post_transform PROBIT of one score for two classes is not in Kiln");
  const bool is_logistic = by == PostTransform::kLogistic;
  ValueId rest = TRY(unary(cx, UnaryKind::kNeg, score));
  if (other == OtherScore::kRest && !is_logistic) rest = TRY(binary(cx, kSum, rest, 1));
  const ValueId both = TRY(cx.add(ops::Concatenation{1}, {rest, score}));
  return is_logistic ? activation(cx, ActivationKind::kSigmoid, both) : both;
}

}  // namespace kiln::onnx
