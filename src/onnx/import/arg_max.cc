#include "onnx/import/arg_max.h"

#include "onnx/import/importers.h"

namespace kiln::onnx {

Result<ValueId> arg_extreme(ImportContext& cx, ValueId x, int axis, Extreme extreme, Tie tie) {
  const ReduceKind find = extreme == Extreme::kMax ? ReduceKind::kMax : ReduceKind::kMin;
  const ValueId best = TRY(reduce(cx, find, x, {axis}, true));
  ValueId here = TRY(binary(cx, ElementWiseKind::kEqual, x, best));
  // NaN is the extreme of what holds it, and equals nothing: without this no index would be found at all.
  if (is_float(cx.dtype(x))) here = TRY(binary(cx, ElementWiseKind::kOr, here, TRY(unary(cx, UnaryKind::kIsNan, x))));
  const ValueId index = TRY(indices_along(cx, cx.extent(x, axis), axis, cx.rank(x)));
  ValueId nowhere = scalar_like(cx, -1, index);
  if (tie == Tie::kFirst) nowhere = TRY(scalar_value(cx, cx.extent(x, axis)));
  const ValueId candidates = TRY(select(cx, here, index, nowhere));
  return reduce(cx, tie == Tie::kFirst ? ReduceKind::kMin : ReduceKind::kMax, candidates, {axis}, true);
}

namespace importers {
namespace {

Status arg(ImportContext& cx, Extreme extreme) {
  const ValueId x = TRY(cx.input(0));
  const int axis = TRY(cx.axis(TRY(cx.node().get_int("axis", 0)), cx.rank(x)));
  const bool keep = TRY(cx.node().get_int("keepdims", 1)) != 0;
  const Tie tie = TRY(cx.node().get_int("select_last_index", 0)) != 0 ? Tie::kLast : Tie::kFirst;
  const ValueId y = TRY(arg_extreme(cx, x, axis, extreme, tie));
  return cx.output(keep ? y : TRY(reduce(cx, ReduceKind::kSum, y, {axis}, false)));
}

}  // namespace

Status arg_max(ImportContext& cx) { return arg(cx, Extreme::kMax); }
Status arg_min(ImportContext& cx) { return arg(cx, Extreme::kMin); }

}  // namespace importers
}  // namespace kiln::onnx
