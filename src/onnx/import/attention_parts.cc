#include "onnx/import/attention_parts.h"

#include <cmath>

namespace kiln::onnx {

Result<ValueId> split_heads(ImportContext& cx, ValueId x, sym::Expr heads) {
  TRY(require(cx.rank(x) == 3, "an operand is ", cx.type(x), "; [batch, length, channels] is needed"));
  TRY(require(!heads.is_const() || heads.value() > 0, "there are ", heads, " heads; one or more are needed"));
  const sym::Expr channels = cx.extent(x, 2);
  TRY(require(!channels.is_const() || !heads.is_const() || channels.value() % heads.value() == 0, "an operand is ",
              cx.type(x), "; its channels are no multiple of ", heads, " heads"));
  const ValueId apart = TRY(reshape(cx, x, {cx.extent(x, 0), cx.extent(x, 1), heads, sym::floor_div(channels, heads)}));
  return transpose(cx, apart, {0, 2, 1, 3});
}

Result<ValueId> join_heads(ImportContext& cx, ValueId x) {
  const ValueId y = TRY(transpose(cx, x, {0, 2, 1, 3}));
  return reshape(cx, y, {cx.extent(y, 0), cx.extent(y, 1), cx.extent(y, 2) * cx.extent(y, 3)});
}

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

Result<double> usual_scale(ImportContext& cx, ValueId query) {
  const auto size = cx.extent(query, 3).constant();
  TRY(require(size && *size > 0, "queries are ", cx.type(query), "; the size of a head must be a constant"));
  return 1 / std::sqrt(static_cast<double>(*size));
}

Result<ValueId> scores_of(ImportContext& cx, ValueId q, ValueId k, double scale) {
  const ValueId left = TRY(binary(cx, ElementWiseKind::kProd, q, std::sqrt(scale)));
  const ValueId right = TRY(binary(cx, ElementWiseKind::kProd, k, std::sqrt(scale)));
  return cx.add(ops::MatrixMultiply{ops::MatrixOp::kNone, ops::MatrixOp::kTranspose}, {left, right});
}

Result<ValueId> capped_scores(ImportContext& cx, ValueId scores, double cap) {
  if (cap == 0) return scores;
  const ValueId small = TRY(binary(cx, ElementWiseKind::kDiv, scores, cap));
  return binary(cx, ElementWiseKind::kProd, TRY(activation(cx, ActivationKind::kTanh, small)), cap);
}

Result<ValueId> as_bias(ImportContext& cx, ValueId allowed, DType type, double masked) {
  const int rank = cx.rank(allowed);
  return select(cx, allowed, scalar_of(cx, 0, type, rank), scalar_of(cx, masked, type, rank));
}

}  // namespace kiln::onnx
