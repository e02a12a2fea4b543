#include <cmath>

#include "onnx/import/attention_parts.h"
#include "onnx/import/importers.h"
#include "ops/concatenation.h"
#include "ops/matrix_multiply.h"
#include "ops/softmax.h"

namespace kiln::onnx::importers {
namespace {

/// [batch, heads, sequence, size]: as given, or out of [batch, sequence, heads * size].
Result<ValueId> with_heads(ImportContext& cx, ValueId x, std::string_view attribute) {
  cx.node().pass_over(attribute);  // four axes say it by themselves
  if (cx.rank(x) == 4) return x;
  TRY(require(cx.rank(x) == 3, "an operand is ", cx.type(x), "; three or four axes are needed"));
  return split_heads(cx, x, TRY(cx.node().need_int(attribute)));
}

/// Keys or values of all positions: those of the past, then the new ones.
Result<ValueId> with_past(ImportContext& cx, ValueId x, size_t past_input) {
  if (!cx.has_input(past_input)) return x;
  return cx.add(ops::Concatenation{2}, {TRY(cx.input(past_input)), x});
}

Result<ValueId> plus(ImportContext& cx, ValueId scores, ValueId bias) {
  return binary(cx, ElementWiseKind::kSum, scores, bias);
}

/// attn_mask as a bias; where it is shorter than the keys, the rest of them is masked.
Result<ValueId> mask_bias(ImportContext& cx, sym::Expr num_keys, DType type) {
  ValueId mask = TRY(cx.input(3));
  const int last = cx.rank(mask) - 1;
  TRY(require(last >= 0, "attn_mask is a scalar"));
  if (cx.dtype(mask) == DType::kBool) mask = TRY(as_bias(cx, mask, type, -INFINITY));
  if (cx.extent(mask, last) == num_keys || cx.extent(mask, last) == sym::Expr(1)) return mask;
  SliceAlong rest{{0}, {num_keys}, {1}, {last}, SliceMode::kFill, scalar_of(cx, -INFINITY, type)};
  return slice(cx, mask, rest);
}

/// Positions of queries and keys, the first query's behind the past or, of a cache outside of the node, the last
/// queries of each sample: [queries, 1] or [batch, 1, queries, 1], and [keys].
Result<std::pair<ValueId, ValueId>> positions(ImportContext& cx, ValueId scores) {
  const sym::Expr queries = cx.extent(scores, 2), keys = cx.extent(scores, 3);
  if (cx.has_input(4) || !cx.has_input(6)) {
    const sym::Expr past = cx.has_input(4) ? cx.extent(TRY(cx.input(4)), 2) : sym::Expr(0);
    const ValueId row = TRY(indices_along(cx, queries, 0, 2)), column = TRY(indices_along(cx, keys, 1, 2));
    return std::pair(TRY(binary(cx, ElementWiseKind::kSum, row, TRY(scalar_value(cx, past)))), column);
  }
  const ValueId length = TRY(cast(cx, TRY(cx.input(6)), DType::kI64));
  const ValueId lengths = TRY(reshape(cx, length, {cx.extent(length, 0), 1, 1, 1}));
  const ValueId first = TRY(binary(cx, ElementWiseKind::kSub, lengths, TRY(scalar_value(cx, queries))));
  const ValueId row = TRY(binary(cx, ElementWiseKind::kSum, first, TRY(indices_along(cx, queries, 2, 4))));
  return std::pair(row, TRY(indices_along(cx, keys, 3, 4)));
}

/// Query i sees the keys up to its own position.
Result<ValueId> causal_bias(ImportContext& cx, ValueId scores) {
  const auto [query, key] = TRY(positions(cx, scores));
  const ValueId later = TRY(binary(cx, ElementWiseKind::kGreater, key, query));
  return as_bias(cx, TRY(unary(cx, UnaryKind::kNot, later)), cx.dtype(scores), -INFINITY);
}

/// Scores without those of keys that are further from a query than the windows on its sides.
Result<ValueId> within_windows(ImportContext& cx, ValueId scores) {
  const int64_t left = TRY(cx.node().get_int("left_window_size", -1)),
                right = TRY(cx.node().get_int("right_window_size", -1));
  if (left < 0 && right < 0) return scores;
  const auto [query, key] = TRY(positions(cx, scores));
  const ValueId behind = TRY(binary(cx, ElementWiseKind::kSub, key, query));
  const auto exclude = [&](ElementWiseKind kind, double limit) -> Status {
    const ValueId is_outside = TRY(binary(cx, kind, behind, limit));
    const ValueId is_inside = TRY(unary(cx, UnaryKind::kNot, is_outside));
    scores = TRY(plus(cx, scores, TRY(as_bias(cx, is_inside, cx.dtype(scores), -INFINITY))));
    return {};
  };
  if (left >= 0) TRY(exclude(ElementWiseKind::kLess, -static_cast<double>(left)));
  if (right >= 0) TRY(exclude(ElementWiseKind::kGreater, static_cast<double>(right)));
  return scores;
}

/// Key i of a sample counts if it lies before that sample's length.
Result<ValueId> padding_bias(ImportContext& cx, ValueId scores) {
  const ValueId length = TRY(cx.input(6));
  const ValueId key = TRY(indices_along(cx, cx.extent(scores, 3), 3, 4, cx.dtype(length)));
  const ValueId lengths = TRY(reshape(cx, length, {cx.extent(length, 0), 1, 1, 1}));
  return as_bias(cx, TRY(binary(cx, ElementWiseKind::kLess, key, lengths)), cx.dtype(scores), -INFINITY);
}

Result<ValueId> biased(ImportContext& cx, ValueId scores) {
  const sym::Expr num_keys = cx.extent(scores, 3);
  const DType type = cx.dtype(scores);
  if (cx.has_input(3)) scores = TRY(plus(cx, scores, TRY(mask_bias(cx, num_keys, type))));
  if (TRY(cx.node().get_int("is_causal", 0)) != 0) scores = TRY(plus(cx, scores, TRY(causal_bias(cx, scores))));
  if (cx.has_input(6)) scores = TRY(plus(cx, scores, TRY(padding_bias(cx, scores))));
  return within_windows(cx, scores);
}

}  // namespace

Status attention(ImportContext& cx) {
  const ValueId given = TRY(cx.input(0));
  const ValueId q = TRY(with_heads(cx, given, "q_num_heads"));
  const ValueId k = TRY(with_past(cx, TRY(with_heads(cx, TRY(cx.input(1)), "kv_num_heads")), 4));
  const ValueId v = TRY(with_past(cx, TRY(with_heads(cx, TRY(cx.input(2)), "kv_num_heads")), 5));
  const double scale = cx.node().find("scale") ? TRY(cx.node().get_float("scale", 0)) : TRY(usual_scale(cx, q));
  const ValueId raw = TRY(scores_of(cx, q, TRY(repeat_heads(cx, k, q)), scale));
  // Scores are masked and then capped, or since version 25 the other way around.
  const bool caps_first = cx.opset() >= 25;
  const float cap = TRY(cx.node().get_float("softcap", 0));
  const ValueId second = caps_first ? TRY(capped_scores(cx, raw, cap)) : TRY(biased(cx, raw));
  const ValueId third = caps_first ? TRY(biased(cx, second)) : TRY(capped_scores(cx, second, cap));
  const ValueId weights = TRY(cx.add(ops::Softmax{3}, {third}));
  ValueId y = TRY(cx.add(ops::MatrixMultiply{}, {weights, TRY(repeat_heads(cx, v, q))}));
  if (cx.rank(given) == 3) y = TRY(join_heads(cx, y));
  TRY(cx.output(0, y));
  TRY(cx.output(1, k));
  TRY(cx.output(2, v));
  const ValueId stages[] = {raw, second, third, weights};
  const int64_t stage = TRY(cx.node().get_int("qk_matmul_output_mode", 0));
  TRY(require(stage >= 0 && stage < 4, "qk_matmul_output_mode is ", stage, "; 0 to 3 are possible"));
  return cx.output(3, stages[stage]);
}

}  // namespace kiln::onnx::importers
