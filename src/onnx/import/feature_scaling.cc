/// Operators of ai.onnx.ml that prepare features: Scaler, Normalizer, Imputer and FeatureVectorizer.
#include <cmath>

#include "onnx/import/feature_rows.h"
#include "onnx/import/importers.h"
#include "ops/concatenation.h"

namespace kiln::onnx::importers::ml {
namespace {

using enum ElementWiseKind;

/// What Normalizer divides a row by.
Result<ValueId> norm_of(ImportContext& cx, ValueId x, std::string_view norm) {
  const Ints axis{cx.rank(x) - 1};
  if (norm == "MAX") return reduce(cx, ReduceKind::kMax, x, axis, true);
  if (norm == "L1") return reduce(cx, ReduceKind::kSum, TRY(unary(cx, UnaryKind::kAbs, x)), axis, true);
  TRY(require(norm == "L2", "norm is '", norm, "'; MAX, L1 or L2 is needed"));
  const ValueId squares = TRY(reduce(cx, ReduceKind::kSum, TRY(binary(cx, kProd, x, x)), axis, true));
  return unary(cx, UnaryKind::kSqrt, squares);
}

/// Replaces the elements of x that equal `replaced`, which may be NaN, by `by`.
Result<ValueId> imputed(ImportContext& cx, ValueId x, double replaced, ValueId by) {
  const ValueId is_replaced =
      std::isnan(replaced) ? TRY(unary(cx, UnaryKind::kIsNan, x)) : TRY(binary(cx, kEqual, x, replaced));
  return select(cx, is_replaced, by, x);
}

/// Replaces integers of x likewise. They are compared as INT64, which the attributes are.
Result<ValueId> imputed_integers(ImportContext& cx, ValueId x) {
  const Ints numbers = TRY(cx.node().need_ints("imputed_value_int64s"));
  const int64_t replaced = TRY(cx.node().get_int("replaced_value_int64", 0));
  TRY(require(!numbers.empty(), "attribute 'imputed_value_int64s' is empty"));
  Extents extents = TRY(extents_of_numbers(cx, x, numbers.size(), "imputed_value_int64s"));
  const Extents ones(extents.size(), 1);
  for (const int64_t number : numbers)
    TRY(require(cx.dtype(x) == DType::kI64 || number == static_cast<int32_t>(number), "imputed_value_int64s has ",
                number, "; x is ", cx.type(x)));
  const ValueId wide = TRY(cast(cx, x, DType::kI64));
  const ValueId by = cx.add_constant(HostTensor::of_ints(DType::kI64, std::move(extents), numbers));
  const ValueId wanted = cx.add_constant(HostTensor::of_ints(DType::kI64, ones, std::span(&replaced, 1)));
  return cast(cx, TRY(select(cx, TRY(binary(cx, kEqual, wide, wanted)), by, wide)), cx.dtype(x));
}

/// The first `count` columns of x, [rows, columns], and columns of zeros where it has fewer.
Result<ValueId> cut(ImportContext& cx, ValueId x, int64_t count) {
  if (cx.extent(x, 1) == sym::Expr(count)) return x;
  return slice(cx, x, {.starts = {0}, .sizes = {count}, .strides = {1}, .axes = {1}, .mode = SliceMode::kFill});
}

}  // namespace

/// Imports Scaler: (x - offset) * scale.
Status scaler(ImportContext& cx) {
  const ValueId x = TRY(features(cx));
  const ValueId offset = TRY(for_each_feature(cx, x, TRY(need_floats(cx, "offset")), "offset"));
  const ValueId scale = TRY(for_each_feature(cx, x, TRY(need_floats(cx, "scale")), "scale"));
  const ValueId y = TRY(binary(cx, kProd, TRY(binary(cx, kSub, x, offset)), scale));
  return cx.output(TRY(cast(cx, y, DType::kF32)));
}

/// Imports Normalizer. A row whose norm is 0 stays as it is. MAX is the greatest element, not the greatest magnitude.
Status normalizer(ImportContext& cx) {
  const ValueId x = TRY(features(cx));
  TRY(require(cx.rank(x) == 1 || cx.rank(x) == 2, "x is ", cx.type(x), "; [rows, features] or [features] is needed"));
  const ValueId norm = TRY(norm_of(cx, x, TRY(cx.node().get_string("norm", "MAX"))));
  const ValueId is_zero = TRY(binary(cx, kEqual, norm, 0));
  const ValueId divisor = TRY(select(cx, is_zero, scalar_like(cx, 1, norm), norm));
  return cx.output(TRY(cast(cx, TRY(binary(cx, kDiv, x, divisor)), DType::kF32)));
}

Status imputer(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const bool has_floats = cx.node().find("imputed_value_floats"), has_ints = cx.node().find("imputed_value_int64s");
  TRY(require(!has_floats || !has_ints, "imputed_value_floats and imputed_value_int64s are both given; one is needed"));
  if (cx.dtype(x) == DType::kI32 || cx.dtype(x) == DType::kI64) return cx.output(TRY(imputed_integers(cx, x)));
  TRY(require(cx.dtype(x) == DType::kF32 || cx.dtype(x) == DType::kF64, "x is ", cx.type(x),
              "; f32, f64, i32 or i64 features are needed"));
  const std::vector<double> numbers = TRY(need_floats(cx, "imputed_value_floats"));
  const ValueId by = TRY(for_each_feature(cx, x, numbers, "imputed_value_floats"));
  return cx.output(TRY(imputed(cx, x, double{TRY(cx.node().get_float("replaced_value_float", 0))}, by)));
}

/// Imports FeatureVectorizer: the inputs side by side, each with as many columns as inputdimensions says.
Status feature_vectorizer(ImportContext& cx) {
  const Ints counts = TRY(cx.node().need_ints("inputdimensions"));
  TRY(require(counts.size() == cx.num_inputs() && !counts.empty(), "inputdimensions is ", counts, "; there are ",
              cx.num_inputs(), " inputs"));
  Values parts;
  for (size_t i = 0; i < counts.size(); ++i) {
    const ValueId x = TRY(cx.input(i));
    TRY(require(counts[i] > 0 && counts[i] <= INT32_MAX, "inputdimensions is ", counts,
                "; 1 to 2^31 - 1 are possible"));
    TRY(require(cx.rank(x) == 1 || cx.rank(x) == 2, "input ", i, " is ", cx.type(x),
                "; [rows, features] or [features] is needed"));
    parts.push_back(TRY(cut(cx, TRY(with_rank(cx, TRY(cast(cx, x, DType::kF32)), 2)), counts[i])));
  }
  return cx.output(parts.size() == 1 ? parts[0] : TRY(cx.add(ops::Concatenation{1}, parts)));
}

}  // namespace kiln::onnx::importers::ml
