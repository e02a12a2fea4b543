#include <cmath>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

/// The number of classes: a scalar of any type; ONNX casts it to an integer.
Result<sym::Expr> depth_of(ImportContext& cx, ValueId depth) {
  if (is_float(cx.dtype(depth))) {
    const auto known = cx.number(depth, "depth");
    if (!known) return cx.whole_number(depth, "depth");
    TRY(require(std::abs(*known) <= 0x1p53, "depth is ", *known, "; a count is needed"));
    return sym::Expr(static_cast<int64_t>(*known));
  }
  const SymbolicValues values = TRY(cx.values(depth, "depth"));
  TRY(require(values.size() == 1, "depth has ", values.size(), " elements; one is needed"));
  return values[0];
}

}  // namespace

Status one_hot(ImportContext& cx) {
  const ValueId values = TRY(cx.input(2));
  const sym::Expr depth = TRY(depth_of(cx, TRY(cx.input(1))));
  const ValueId indices = TRY(cast(cx, TRY(cx.input(0)), DType::kI64));
  const int rank = cx.rank(indices) + 1;
  const int axis = TRY(cx.axis(TRY(cx.node().get_int("axis", -1)), rank));
  // Negative indices count from the back; others outside match no class.
  const ValueId negative = TRY(binary(cx, ElementWiseKind::kLess, indices, 0));
  const ValueId wrapped = TRY(binary(cx, ElementWiseKind::kSum, indices, TRY(scalar_value(cx, depth))));
  const ValueId at = TRY(unsqueeze(cx, TRY(select(cx, negative, wrapped, indices)), {axis}));
  const ValueId hot = TRY(binary(cx, ElementWiseKind::kEqual, at, TRY(indices_along(cx, depth, axis, rank))));
  const ValueId off = TRY(slice(cx, values, {{0}, {1}, {1}, {0}})), on = TRY(slice(cx, values, {{1}, {1}, {1}, {0}}));
  return cx.output(TRY(select(cx, hot, on, off)));
}

}  // namespace kiln::onnx::importers
