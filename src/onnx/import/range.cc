#include <cmath>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/fill.h"

namespace kiln::onnx::importers {
namespace {

constexpr double kLongest = 0x1p31;

/// Of floats, whose count must be known now.
Status float_range(ImportContext& cx) {
  double parameters[3];
  for (size_t i = 0; i < 3; ++i) parameters[i] = TRY(cx.number(TRY(cx.input(i)), cx.input_name(i)));
  const auto [start, limit, delta] = parameters;
  const double count = std::max(0.0, std::ceil((limit - start) / delta));
  TRY(require(count < kLongest, "a range from ", start, " to ", limit, " by ", delta, " has no sensible length"));
  ops::Fill fill;
  fill.dims = {static_cast<int64_t>(count)};
  fill.alpha = start;
  fill.beta = delta;
  fill.to = cx.dtype(cx.inputs()[0]);
  return cx.output(TRY(cx.add(std::move(fill), {})));
}

}  // namespace

Status range(ImportContext& cx) {
  for (size_t i = 0; i < 3; ++i) {
    const TensorType& type = cx.type(TRY(cx.input(i)));
    TRY(require(sym::provably_equal(type.volume(), 1), "'", cx.input_name(i), "' is ", type, "; a scalar is needed"));
  }
  const DType type = cx.dtype(cx.inputs()[0]);
  if (is_float(type)) return float_range(cx);
  sym::Expr parameters[3];
  for (size_t i = 0; i < 3; ++i) parameters[i] = TRY(cx.values(cx.inputs()[i], cx.input_name(i)))[0];
  const auto [start, limit, delta] = parameters;
  TRY(require(delta != sym::Expr(0), "delta is 0"));
  const sym::Expr count = sym::max(0, sym::ceil_div(limit - start, delta));
  ops::Fill fill;
  fill.to = type;
  const bool from_zero = start == sym::Expr(0) && delta == sym::Expr(1);
  const ValueId dims = TRY(dims_value(cx, {count}));
  if (from_zero) return cx.output(TRY(cx.add(std::move(fill), {dims})));
  return cx.output(
      TRY(cx.add(std::move(fill), {dims, TRY(scalar_value(cx, start, type)), TRY(scalar_value(cx, delta, type))})));
}

}  // namespace kiln::onnx::importers
