#include "onnx/dtypes.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

/// column - row of each element of the last two axes of a tensor of x's shape, [rows, columns].
Result<ValueId> diagonal_of_elements(ImportContext& cx, ValueId x) {
  const int rank = cx.rank(x);
  TRY(require(rank >= 2, "x is ", cx.type(x), "; it needs at least two axes"));
  const ValueId rows = TRY(indices_along(cx, cx.extent(x, rank - 2), 0, 2));
  const ValueId columns = TRY(indices_along(cx, cx.extent(x, rank - 1), 1, 2));
  return binary(cx, ElementWiseKind::kSub, columns, rows);
}

}  // namespace

Status trilu(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const bool upper = TRY(cx.node().get_int("upper", 1)) != 0;
  const ValueId diagonal = TRY(diagonal_of_elements(cx, x));
  ValueId k = scalar_like(cx, 0, diagonal);
  if (cx.has_input(1)) k = TRY(reshape(cx, TRY(cx.input(1)), {1, 1}));
  const ValueId dropped = TRY(binary(cx, upper ? ElementWiseKind::kLess : ElementWiseKind::kGreater, diagonal, k));
  ValueId zero = scalar_like(cx, 0, x);
  return cx.output(TRY(select(cx, dropped, zero, x)));
}

Status eye_like(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  TRY(require(cx.rank(x) == 2, "x is ", cx.type(x), "; a matrix is needed"));
  DType type = cx.dtype(x);
  if (cx.node().find("dtype")) type = TRY(need_dtype(static_cast<ElementType>(TRY(cx.node().get_int("dtype", 1)))));
  const auto k = static_cast<double>(TRY(cx.node().get_int("k", 0)));
  const ValueId diagonal = TRY(diagonal_of_elements(cx, x));
  return cx.output(TRY(cast(cx, TRY(binary(cx, ElementWiseKind::kEqual, diagonal, k)), type)));
}

}  // namespace kiln::onnx::importers
