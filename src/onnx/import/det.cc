#include "onnx/import/arg_max.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

constexpr int64_t kMostRows = 32;  // a dozen ops each

/// The first row or column left out, or that alone, of the last axes.
Result<ValueId> part(ImportContext& cx, ValueId x, int axis, int64_t start, int64_t size) {
  return slice(cx, x, {{start}, {size}, {1}, {axis}});
}

/// One step of Gauss's elimination: `x` loses the row of the greatest first element and its first column. Returns that
/// element, with the sign of the rows' exchange.
Result<ValueId> eliminate(ImportContext& cx, ValueId& x, int64_t rows) {
  const int row_axis = cx.rank(x) - 2, column_axis = row_axis + 1;
  const ValueId first = TRY(part(cx, x, column_axis, 0, 1));
  const ValueId best =
      TRY(arg_extreme(cx, TRY(unary(cx, UnaryKind::kAbs, first)), row_axis, Extreme::kMax, Tie::kFirst));
  const ValueId at = TRY(indices_along(cx, rows, row_axis, cx.rank(x), cx.dtype(best)));
  const ValueId is_best = TRY(binary(cx, ElementWiseKind::kEqual, at, best));
  const ValueId pivot_row =
      TRY(reduce(cx, ReduceKind::kSum, TRY(select(cx, is_best, x, scalar_like(cx, 0, x))), {row_axis}, true));
  const ValueId exchanged = TRY(select(cx, is_best, TRY(part(cx, x, row_axis, 0, 1)), x));
  const ValueId rest = TRY(part(cx, exchanged, row_axis, 1, rows - 1));
  const ValueId pivot = TRY(part(cx, pivot_row, column_axis, 0, 1));
  const ValueId is_zero = TRY(binary(cx, ElementWiseKind::kEqual, pivot, 0));  // then all others are, too
  const ValueId divisor = TRY(select(cx, is_zero, scalar_like(cx, 1, pivot), pivot));
  const ValueId factor = TRY(binary(cx, ElementWiseKind::kDiv, TRY(part(cx, rest, column_axis, 0, 1)), divisor));
  const ValueId product =
      TRY(binary(cx, ElementWiseKind::kProd, factor, TRY(part(cx, pivot_row, column_axis, 1, rows - 1))));
  x = TRY(binary(cx, ElementWiseKind::kSub, TRY(part(cx, rest, column_axis, 1, rows - 1)), product));
  const ValueId stays = TRY(binary(cx, ElementWiseKind::kEqual, best, 0));
  return select(cx, stays, pivot, TRY(unary(cx, UnaryKind::kNeg, pivot)));
}

}  // namespace

/// Imports Det: a product of pivots.
Status det(ImportContext& cx) {
  ValueId x = TRY(cx.input(0));
  const Shape shape = cx.type(x).shape;
  TRY(require(shape.size() >= 2 && shape.back().is_const() && shape[shape.size() - 2] == shape.back(), "x is ",
              cx.type(x), "; square matrices of a constant extent are needed"));
  const int64_t rows = shape.back().value();
  if (rows < 1 || rows > kMostRows)
    return error(Code::kUnsupported, "a determinant of ", rows, " rows; 1 to ", kMostRows, " are supported");
  ValueId y = ValueId::kNone;
  for (int64_t left = rows; left > 0; --left) {
    const ValueId pivot = left == 1 ? x : TRY(eliminate(cx, x, left));
    y = y == ValueId::kNone ? pivot : TRY(binary(cx, ElementWiseKind::kProd, y, pivot));
  }
  return cx.output(TRY(reshape(cx, y, Shape(shape.begin(), shape.end() - 2))));
}

}  // namespace kiln::onnx::importers
