#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/cumulative.h"
#include "ops/gather.h"

namespace kiln::onnx::importers {
namespace {

/// Imports CumSum or CumProd. If the axis is known at run time only, the results along every axis are computed and one
/// is selected.
Status cumulative(ImportContext& cx, CumulativeOperation operation) {
  const ValueId x = TRY(cx.input(0)), given = TRY(cx.input(1));
  const int rank = cx.rank(x);
  TRY(require(sym::provably_equal(cx.type(given).volume(), 1), "axis is ", cx.type(given), "; one number is needed"));
  ops::Cumulative op{.operation = operation};
  op.exclusive = TRY(cx.node().get_int("exclusive", 0)) != 0;
  op.reverse = TRY(cx.node().get_int("reverse", 0)) != 0;
  const auto along = [&](int axis) {
    op.axis = axis;
    return cx.add(op, {x});
  };
  if (cx.is_constant(given)) return cx.output(TRY(along(TRY(cx.axis(TRY(cx.ints(given, "axis"))[0], rank)))));
  // A table of all axes counts from the back, and its Gather fails where the axis is none of x's.
  const ValueId axes = TRY(indices_along(cx, rank, 0, 1));
  const ValueId axis = TRY(cx.add(ops::Gather{}, {axes, TRY(reshape(cx, given, Shape{}))}));
  ValueId y = TRY(along(0));
  for (int i = 1; i < rank; ++i)
    y = TRY(select(cx, TRY(binary(cx, ElementWiseKind::kEqual, axis, i)), TRY(along(i)), y));
  return cx.output(y);
}

}  // namespace

Status cum_prod(ImportContext& cx) { return cumulative(cx, CumulativeOperation::kProd); }
Status cum_sum(ImportContext& cx) { return cumulative(cx, CumulativeOperation::kSum); }

}  // namespace kiln::onnx::importers
