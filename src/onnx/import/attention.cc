#include <algorithm>
#include <cmath>

#include "onnx/import/attention_parts.h"
#include "onnx/import/importers.h"
#include "ops/concatenation.h"
#include "ops/matrix_multiply.h"
#include "ops/softmax.h"
#include "tensor/view.h"

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

/// Returns attn_mask as a bias. Where it is shorter than the keys, the rest of them is masked.
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

/// Adds the biases that mask keys further from a query than the windows on its sides.
Status add_window_biases(ImportContext& cx, ValueId scores, Values& biases) {
  const int64_t left = TRY(cx.node().get_int("left_window_size", -1)),
                right = TRY(cx.node().get_int("right_window_size", -1));
  if (left < 0 && right < 0) return {};
  const auto [query, key] = TRY(positions(cx, scores));
  const ValueId behind = TRY(binary(cx, ElementWiseKind::kSub, key, query));
  const auto exclude = [&](ElementWiseKind kind, double limit) -> Status {
    const ValueId is_outside = TRY(binary(cx, kind, behind, limit));
    const ValueId is_inside = TRY(unary(cx, UnaryKind::kNot, is_outside));
    biases.push_back(TRY(as_bias(cx, is_inside, cx.dtype(scores), -INFINITY)));
    return {};
  };
  if (left >= 0) TRY(exclude(ElementWiseKind::kLess, -static_cast<double>(left)));
  if (right >= 0) TRY(exclude(ElementWiseKind::kGreater, static_cast<double>(right)));
  return {};
}

/// Key i of a sample counts if it lies before that sample's length.
Result<ValueId> padding_bias(ImportContext& cx, ValueId scores) {
  const ValueId length = TRY(cx.input(6));
  const ValueId key = TRY(indices_along(cx, cx.extent(scores, 3), 3, 4, cx.dtype(length)));
  const ValueId lengths = TRY(reshape(cx, length, {cx.extent(length, 0), 1, 1, 1}));
  return as_bias(cx, TRY(binary(cx, ElementWiseKind::kLess, key, lengths)), cx.dtype(scores), -INFINITY);
}

/// What is added to scores: masks that the node has or says.
Result<Values> biases_of(ImportContext& cx, ValueId scores) {
  Values biases;
  if (cx.has_input(3)) biases.push_back(TRY(mask_bias(cx, cx.extent(scores, 3), cx.dtype(scores))));
  if (TRY(cx.node().get_int("is_causal", 0)) != 0) biases.push_back(TRY(causal_bias(cx, scores)));
  if (cx.has_input(6)) biases.push_back(TRY(padding_bias(cx, scores)));
  TRY(add_window_biases(cx, scores, biases));
  return biases;
}

/// Whether a query may see no key. Without a mask and lengths from outside, a causal query sees the first key, and a
/// window has the query's own position, which is a key's unless there are more queries than keys.
Result<bool> may_see_nothing(ImportContext& cx, ValueId scores) {
  if (cx.has_input(3) || cx.has_input(6)) return true;
  const ValueId keys = TRY(cx.input(1));
  return TRY(cx.node().get_int("left_window_size", -1)) >= 0 &&
         !sym::provably_less_equal(cx.extent(scores, 2), cx.extent(keys, cx.rank(keys) - 2));
}

/// Whether each query sees a key: one that no bias of minus infinity excludes. Returns kNone where all queries do.
Result<ValueId> sees_a_key(ImportContext& cx, ValueId scores, const Values& biases) {
  if (!TRY(may_see_nothing(cx, scores))) return ValueId::kNone;
  ValueId all = biases[0];
  for (size_t i = 1; i < biases.size(); ++i) all = TRY(plus(cx, all, biases[i]));
  const ValueId most = TRY(reduce(cx, ReduceKind::kMax, all, {cx.rank(all) - 1}, true));
  const ValueId sees = TRY(binary(cx, ElementWiseKind::kGreater, most, -INFINITY));
  const Result<HostTensor> known = cx.constant(sees, "");
  const bool is_all = known && std::ranges::count(View(*known).integers(), 0) == 0;
  return is_all ? ValueId::kNone : sees;
}

/// x, [batch, heads, queries, any], with zeros for queries that see no key.
Result<ValueId> zero_unless(ImportContext& cx, ValueId sees, ValueId x) {
  return sees == ValueId::kNone ? Result<ValueId>(x) : select(cx, sees, x, scalar_like(cx, 0, x));
}

}  // namespace

Status attention(ImportContext& cx) {
  const ValueId given = TRY(cx.input(0));
  const ValueId q = TRY(with_heads(cx, given, "q_num_heads"));
  const ValueId k = TRY(with_past(cx, TRY(with_heads(cx, TRY(cx.input(1)), "kv_num_heads")), 4));
  const ValueId v = TRY(with_past(cx, TRY(with_heads(cx, TRY(cx.input(2)), "kv_num_heads")), 5));
  const double scale = cx.node().find("scale") ? TRY(cx.node().get_float("scale", 0)) : TRY(usual_scale(cx, q));
  const ValueId raw = TRY(scores_of(cx, q, TRY(repeat_heads(cx, k, q)), scale));
  // Texts of versions 23 and 24 masked scores before they capped them, which let masked keys in, until they were
  // mended.
  const float cap = TRY(cx.node().get_float("softcap", 0));
  const ValueId capped = TRY(capped_scores(cx, raw, cap));
  const Values biases = TRY(biases_of(cx, capped));
  ValueId biased = capped;
  for (const ValueId bias : biases) biased = TRY(plus(cx, biased, bias));
  const ValueId weights = TRY(cx.add(ops::Softmax{3}, {biased}));
  // Zeros replace the NaNs of a softmax of nothing behind the products, so that tactics of attention take these.
  const ValueId sees = TRY(sees_a_key(cx, capped, biases));
  ValueId y = TRY(cx.add(ops::MatrixMultiply{}, {weights, TRY(repeat_heads(cx, v, q))}));
  y = TRY(zero_unless(cx, sees, y));
  if (cx.rank(given) == 3) y = TRY(join_heads(cx, y));
  TRY(cx.output(0, y));
  TRY(cx.output(1, k));
  TRY(cx.output(2, v));
  const int64_t stage = TRY(cx.node().get_int("qk_matmul_output_mode", 0));
  TRY(require(stage >= 0 && stage < 4, "qk_matmul_output_mode is ", stage, "; 0 to 3 are possible"));
  if (!cx.wants(3)) return {};
  // The first texts of these versions count masked scores as 1. Without a softcap that is not what 0 gives already.
  const bool counts_masked = cx.opset() < 25 && cap == 0;
  const ValueId stages[] = {raw, counts_masked ? biased : capped, biased, weights};
  return cx.output(3, stage == 3 ? TRY(zero_unless(cx, sees, weights)) : stages[stage]);
}

}  // namespace kiln::onnx::importers
