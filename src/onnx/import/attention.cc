#include <cmath>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/concatenation.h"
#include "ops/matrix_multiply.h"
#include "ops/softmax.h"

namespace kiln::onnx::importers {
namespace {

/// [batch, heads, sequence, size]: as given, or out of [batch, sequence, heads * size].
Result<ValueId> with_heads(ImportContext& cx, ValueId x, std::string_view attribute) {
  if (cx.rank(x) == 4) return x;
  TRY(require(cx.rank(x) == 3, "an operand is ", cx.type(x), "; three or four axes are needed"));
  const int64_t heads = TRY(cx.node().need_int(attribute));
  TRY(require(heads > 0, attribute, " is ", heads, "; it must be positive"));
  const ValueId split =
      TRY(reshape(cx, x, {cx.extent(x, 0), cx.extent(x, 1), heads, sym::floor_div(cx.extent(x, 2), heads)}));
  return transpose(cx, split, {0, 2, 1, 3});
}

/// Keys or values of all positions: those of the past, then the new ones.
Result<ValueId> with_past(ImportContext& cx, ValueId x, size_t past_input) {
  if (!cx.has_input(past_input)) return x;
  return cx.add(ops::Concatenation{2}, {TRY(cx.input(past_input)), x});
}

/// Every head as often as there are query heads for it.
Result<ValueId> repeat_heads(ImportContext& cx, ValueId x, ValueId query) {
  const sym::Expr heads = cx.extent(x, 1), wanted = cx.extent(query, 1);
  if (heads == wanted) return x;
  TRY(require(heads.is_const() && wanted.is_const() && heads.value() > 0 && wanted.value() % heads.value() == 0,
              "there are ", wanted, " query heads and ", heads, " key and value heads; a multiple is needed"));
  const Shape shape = cx.type(x).shape;
  const ValueId apart = TRY(unsqueeze(cx, x, {2}));
  const ValueId repeated =
      TRY(expand(cx, apart, {shape[0], heads, wanted.value() / heads.value(), shape[2], shape[3]}));
  return reshape(cx, repeated, {shape[0], wanted, shape[2], shape[3]});
}

/// 0 where `allowed`, minus infinity elsewhere.
Result<ValueId> as_bias(ImportContext& cx, ValueId allowed, DType type) {
  const int rank = cx.rank(allowed);
  return select(cx, allowed, scalar_of(cx, 0, type, rank), scalar_of(cx, -INFINITY, type, rank));
}

Result<ValueId> plus(ImportContext& cx, ValueId scores, ValueId bias) {
  return binary(cx, ElementWiseKind::kSum, scores, bias);
}

/// attn_mask as a bias; where it is shorter than the keys, the rest of them is masked.
Result<ValueId> mask_bias(ImportContext& cx, sym::Expr num_keys, DType type) {
  ValueId mask = TRY(cx.input(3));
  const int last = cx.rank(mask) - 1;
  TRY(require(last >= 0, "attn_mask is a scalar"));
  if (cx.dtype(mask) == DType::kBool) mask = TRY(as_bias(cx, mask, type));
  if (cx.extent(mask, last) == num_keys || cx.extent(mask, last) == sym::Expr(1)) return mask;
  SliceAlong rest{{0}, {num_keys}, {1}, {last}, SliceMode::kFill, scalar_of(cx, -INFINITY, type)};
  return slice(cx, mask, rest);
}

/// Query i sees the keys up to position i after the past.
Result<ValueId> causal_bias(ImportContext& cx, ValueId scores) {
  const sym::Expr queries = cx.extent(scores, 2), keys = cx.extent(scores, 3);
  const sym::Expr past = cx.has_input(4) ? cx.extent(TRY(cx.input(4)), 2) : sym::Expr(0);
  const ValueId row = TRY(indices_along(cx, queries, 0, 2)), column = TRY(indices_along(cx, keys, 1, 2));
  const ValueId last = TRY(binary(cx, ElementWiseKind::kSum, row, TRY(scalar_value(cx, past))));
  const ValueId later = TRY(binary(cx, ElementWiseKind::kGreater, column, last));
  return as_bias(cx, TRY(unary(cx, UnaryKind::kNot, later)), cx.dtype(scores));
}

/// Key i of a sample counts if it lies before that sample's length.
Result<ValueId> padding_bias(ImportContext& cx, ValueId scores) {
  const ValueId length = TRY(cx.input(6));
  const ValueId key = TRY(indices_along(cx, cx.extent(scores, 3), 3, 4, cx.dtype(length)));
  const ValueId lengths = TRY(reshape(cx, length, {cx.extent(length, 0), 1, 1, 1}));
  return as_bias(cx, TRY(binary(cx, ElementWiseKind::kLess, key, lengths)), cx.dtype(scores));
}

Result<ValueId> biased(ImportContext& cx, ValueId scores) {
  const sym::Expr num_keys = cx.extent(scores, 3);
  const DType type = cx.dtype(scores);
  if (cx.has_input(3)) scores = TRY(plus(cx, scores, TRY(mask_bias(cx, num_keys, type))));
  if (TRY(cx.node().get_int("is_causal", 0)) != 0) scores = TRY(plus(cx, scores, TRY(causal_bias(cx, scores))));
  if (cx.has_input(6)) scores = TRY(plus(cx, scores, TRY(padding_bias(cx, scores))));
  return scores;
}

/// q * sqrt(scale) times the transpose of k * sqrt(scale)
Result<ValueId> raw_scores(ImportContext& cx, ValueId q, ValueId k) {
  double scale = TRY(cx.node().get_float("scale", 0));
  if (!cx.node().find("scale")) {
    const auto size = cx.extent(q, 3).constant();
    TRY(require(size && *size > 0, "queries are ", cx.type(q), "; the size of a head must be a constant"));
    scale = 1 / std::sqrt(static_cast<double>(*size));
  }
  const ValueId left = TRY(binary(cx, ElementWiseKind::kProd, q, std::sqrt(scale)));
  const ValueId right = TRY(binary(cx, ElementWiseKind::kProd, k, std::sqrt(scale)));
  return cx.add(ops::MatrixMultiply{ops::MatrixOp::kNone, ops::MatrixOp::kTranspose}, {left, right});
}

Result<ValueId> capped(ImportContext& cx, ValueId scores) {
  const float cap = TRY(cx.node().get_float("softcap", 0));
  if (cap == 0) return scores;
  const ValueId small = TRY(binary(cx, ElementWiseKind::kDiv, scores, cap));
  return binary(cx, ElementWiseKind::kProd, TRY(activation(cx, ActivationKind::kTanh, small)), cap);
}

}  // namespace

Status attention(ImportContext& cx) {
  const ValueId given = TRY(cx.input(0));
  const ValueId q = TRY(with_heads(cx, given, "q_num_heads"));
  const ValueId k = TRY(with_past(cx, TRY(with_heads(cx, TRY(cx.input(1)), "kv_num_heads")), 4));
  const ValueId v = TRY(with_past(cx, TRY(with_heads(cx, TRY(cx.input(2)), "kv_num_heads")), 5));
  const ValueId raw = TRY(raw_scores(cx, q, TRY(repeat_heads(cx, k, q))));
  const ValueId masked = TRY(biased(cx, raw)), cap = TRY(capped(cx, masked));
  const ValueId weights = TRY(cx.add(ops::Softmax{3}, {cap}));
  ValueId y = TRY(cx.add(ops::MatrixMultiply{}, {weights, TRY(repeat_heads(cx, v, q))}));
  if (cx.rank(given) == 3) {
    y = TRY(transpose(cx, y, {0, 2, 1, 3}));
    y = TRY(reshape(cx, y, {cx.extent(y, 0), cx.extent(y, 1), cx.extent(y, 2) * cx.extent(y, 3)}));
  }
  TRY(cx.output(0, y));
  TRY(cx.output(1, k));
  TRY(cx.output(2, v));
  const ValueId stages[] = {raw, masked, cap, weights};
  const int64_t stage = TRY(cx.node().get_int("qk_matmul_output_mode", 0));
  TRY(require(stage >= 0 && stage < 4, "qk_matmul_output_mode is ", stage, "; 0 to 3 are possible"));
  return cx.output(3, stages[stage]);
}

}  // namespace kiln::onnx::importers
