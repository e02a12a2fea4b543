#include "ops/one_hot.h"

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
  const int axis = TRY(cx.axis(TRY(cx.node().get_int("axis", -1)), cx.rank(indices) + 1));
  return cx.output(TRY(cx.add(ops::OneHot{axis}, {indices, values, TRY(scalar_value(cx, depth))})));
}

}  // namespace kiln::onnx::importers
