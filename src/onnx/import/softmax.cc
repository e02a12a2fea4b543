#include "ops/softmax.h"

#include "onnx/import/arg_max.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

/// x with the axes that are normalised together joined to one. Before version 13 these are all axes from `axis` on.
struct Lanes {
  ValueId x;
  int axis;
  bool reshaped;
};
Result<Lanes> lanes_of(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int rank = cx.rank(x);
  const int64_t given = TRY(cx.node().get_int("axis", cx.opset() < 13 ? 1 : -1));
  TRY(require(rank > 0, "x is a scalar; it has no axis"));
  if (cx.opset() < 13 && given == rank && rank > 0) {  // each element alone
    Shape apart = cx.type(x).shape;
    apart.emplace_back(1);
    return Lanes{TRY(reshape(cx, x, apart)), rank, true};
  }
  const int axis = TRY(cx.axis(given, rank));
  if (cx.opset() >= 13 || axis == rank - 1) return Lanes{x, axis, false};
  const std::span<const sym::Expr> shape = cx.type(x).shape;
  Shape flat(shape.begin(), shape.begin() + axis);
  flat.push_back(sym::product(shape.subspan(static_cast<size_t>(axis))));
  return Lanes{TRY(reshape(cx, x, flat)), axis, true};
}
Status finish(ImportContext& cx, const Lanes& lanes, ValueId y) {
  if (!lanes.reshaped) return cx.output(y);
  return cx.output(TRY(reshape(cx, y, cx.type(cx.inputs()[0]).shape)));
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
