#include "onnx/import/range.h"

#include <cmath>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/fill.h"

namespace kiln::onnx::importers {
namespace {

constexpr double kLongest = 0x1p31;
constexpr std::string_view kParameters[] = {"start", "limit", "delta"};

/// Imports a range of integers, or of floats that are whole numbers.
Status whole_range(ImportContext& cx, sym::Expr start, sym::Expr limit, sym::Expr delta, DType type) {
  TRY(require(delta != sym::Expr(0), "delta is 0"));
  const sym::Expr count = sym::max(0, sym::ceil_div(limit - start, delta));
  ops::Fill fill;
  fill.to = type;
  const ValueId dims = TRY(dims_value(cx, {count}));
  if (start == sym::Expr(0) && delta == sym::Expr(1)) return cx.output(TRY(cx.add(std::move(fill), {dims})));
  return cx.output(
      TRY(cx.add(std::move(fill), {dims, TRY(scalar_value(cx, start, type)), TRY(scalar_value(cx, delta, type))})));
}

Status constant_range(ImportContext& cx, const std::vector<double>& parameters, DType type) {
  const double start = parameters[0], limit = parameters[1], delta = parameters[2];
  const double count = std::max(0.0, std::ceil((limit - start) / delta));
  TRY(require(count < kLongest, "a range from ", start, " to ", limit, " by ", delta, " has no sensible length"));
  ops::Fill fill;
  fill.dims = {static_cast<int64_t>(count)};
  fill.alpha = start;
  fill.beta = delta;
  fill.to = type;
  return cx.output(TRY(cx.add(std::move(fill), {})));
}

/// Imports a range of floats some of which come from data: the run computes its length, which the host reads. ONNX
/// divides in double.
Result<ValueId> length_of_run(ImportContext& cx, const RangeParameters& of) {
  const ValueId span = TRY(binary(cx, ElementWiseKind::kSub, of[1], of[0]));
  const ValueId wide = TRY(cast(cx, span, DType::kF64)), delta = TRY(cast(cx, of[2], DType::kF64));
  const ValueId count = TRY(unary(cx, UnaryKind::kCeil, TRY(binary(cx, ElementWiseKind::kDiv, wide, delta))));
  return cast(cx, TRY(reshape(cx, count, {})), DType::kI64);
}

Status range_of_data(ImportContext& cx, const RangeParameters& of) {
  const sym::Expr count = TRY(read_values(cx, TRY(length_of_run(cx, of))))[0];
  ops::Fill fill;
  fill.to = cx.dtype(of[0]);
  const ValueId start = TRY(reshape(cx, of[0], {})), delta = TRY(reshape(cx, of[2], {}));
  return cx.output(TRY(cx.add(std::move(fill), {TRY(dims_value(cx, {sym::max(0, count)})), start, delta})));
}

/// Imports a range of floats: constants, whole numbers that shapes decide, or others that come at run time.
Status float_range(ImportContext& cx, const RangeParameters& of) {
  std::vector<double> known;
  for (const ValueId parameter : of)
    if (const auto number = cx.number(parameter, "")) known.push_back(*number);
  if (known.size() == 3) return constant_range(cx, known, cx.dtype(of[0]));
  sym::Expr whole[3];
  for (const bool is_input : {false, true})  // an input becomes one of whole numbers only where the others are such
    for (size_t i = 0; i < 3; ++i) {
      if ((cx.graph().value(of[i]).producer == ir::NodeId::kNone) != is_input) continue;
      const auto number = cx.whole_number(of[i], kParameters[i]);
      if (!number) return range_of_data(cx, of);
      whole[i] = *number;
    }
  return whole_range(cx, whole[0], whole[1], whole[2], cx.dtype(of[0]));
}

}  // namespace

Status range_by(ImportContext& cx, const RangeParameters& of) {
  for (size_t i = 0; i < 3; ++i) {
    const TensorType& type = cx.type(of[i]);
    TRY(require(sym::provably_equal(type.volume(), 1), kParameters[i], " is ", type, "; a scalar is needed"));
  }
  const DType type = cx.dtype(of[0]);
  if (is_float(type)) return float_range(cx, of);
  sym::Expr parameters[3];
  for (size_t i = 0; i < 3; ++i) parameters[i] = TRY(cx.values(of[i], kParameters[i]))[0];
  const auto [start, limit, delta] = parameters;
  return whole_range(cx, start, limit, delta, type);
}

Status range(ImportContext& cx) { return range_by(cx, {TRY(cx.input(0)), TRY(cx.input(1)), TRY(cx.input(2))}); }

}  // namespace kiln::onnx::importers
