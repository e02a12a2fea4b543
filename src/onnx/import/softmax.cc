#include "ops/softmax.h"

#include "onnx/import/arg_max.h"
#include "onnx/import/importers.h"
#include "onnx/import/lanes.h"

namespace kiln::onnx {

Result<Lanes> lanes_of(ImportContext& cx, ValueId x, int64_t opset) {
  const int rank = cx.rank(x);
  const int64_t given = TRY(cx.node().get_int("axis", opset < 13 ? 1 : -1));
  TRY(require(rank > 0, "x is a scalar; it has no axis"));
  if (opset < 13 && given == rank) {  // each element alone
    Shape apart = cx.type(x).shape;
    apart.emplace_back(1);
    return Lanes{TRY(reshape(cx, x, apart)), rank, true};
  }
  const int axis = TRY(cx.axis(given, rank));
  if (opset >= 13 || axis == rank - 1) return Lanes{x, axis, false};
  const std::span<const sym::Expr> shape = cx.type(x).shape;
  Shape flat(shape.begin(), shape.begin() + axis);
  flat.push_back(sym::product(shape.subspan(static_cast<size_t>(axis))));
  return Lanes{TRY(reshape(cx, x, flat)), axis, true};
}
Result<ValueId> unflattened(ImportContext& cx, const Lanes& lanes, ValueId y, ValueId x) {
  if (!lanes.reshaped) return y;
  return reshape(cx, y, cx.type(x).shape);
}

}  // namespace kiln::onnx

namespace kiln::onnx::importers {
namespace {

Result<Lanes> lanes_of(ImportContext& cx) { return lanes_of(cx, TRY(cx.input(0)), cx.opset()); }
Status finish(ImportContext& cx, const Lanes& lanes, ValueId y) {
  return cx.output(TRY(unflattened(cx, lanes, y, TRY(cx.input(0)))));
}

}  // namespace

Status softmax(ImportContext& cx) {
  const Lanes lanes = TRY(lanes_of(cx));
  return finish(cx, lanes, TRY(cx.add(ops::Softmax{lanes.axis}, {lanes.x})));
}

Status log_softmax(ImportContext& cx) {
  const Lanes lanes = TRY(lanes_of(cx));
  return finish(cx, lanes, TRY(log_softmax_along(cx, lanes.x, lanes.axis)));
}

/// 1 at the first of the largest elements, else 0.
Status hardmax(ImportContext& cx) {
  const Lanes lanes = TRY(lanes_of(cx));
  const ValueId best = TRY(arg_extreme(cx, lanes.x, lanes.axis, Extreme::kMax, Tie::kFirst));
  const ValueId index = TRY(indices_along(cx, cx.extent(lanes.x, lanes.axis), lanes.axis, cx.rank(lanes.x)));
  const ValueId hot = TRY(binary(cx, ElementWiseKind::kEqual, index, best));
  return finish(cx, lanes, TRY(cast(cx, hot, cx.dtype(lanes.x))));
}

}  // namespace kiln::onnx::importers
