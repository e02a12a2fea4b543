#include "ops/non_zero.h"

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/gather.h"

namespace kiln::onnx::importers {

Status non_zero(ImportContext& cx) { return cx.output(TRY(cx.add(ops::NonZero{}, {TRY(cx.input(0))}))); }

/// The slices of x, or its elements, at the indices where the condition holds.
Status compress(ImportContext& cx) {
  ValueId x = TRY(cx.input(0));
  ValueId condition = TRY(cx.input(1));
  TRY(require(cx.type(condition).rank() == 1, "condition is ", cx.type(condition), "; rank 1 needed"));
  int axis = 0;
  if (cx.node().find("axis"))
    axis = TRY(normalize_axis(TRY(cx.int_attribute("axis", 0)), cx.type(x).rank()));
  else
    x = TRY(reshape(cx, x, {sym::product(cx.type(x).shape)}));
  // Elements behind those of the axis count for nothing, as ONNX Runtime has it.
  const sym::Expr flags = cx.extent(condition, 0), extent = cx.extent(x, axis);
  if (!sym::provably_less_equal(flags, extent))
    condition =
        TRY(slice(cx, condition, {.starts = {0}, .sizes = {sym::min(flags, extent)}, .strides = {1}, .axes = {0}}));
  const ValueId at = TRY(cx.add(ops::NonZero{}, {condition}));
  const ValueId row = TRY(reshape(cx, at, {cx.extent(at, 1)}));
  return cx.output(TRY(cx.add(ops::Gather{.axis = axis}, {x, row})));
}

}  // namespace kiln::onnx::importers
