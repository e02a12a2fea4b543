#include <algorithm>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

namespace {

constexpr int64_t kMostTerms = 1 << 24;  // that are written out for every sum

/// x moved along an axis, with zeros where nothing is.
Result<ValueId> moved(ImportContext& cx, ValueId x, int axis, int64_t by) {
  return slice(
      cx, x,
      {.starts = {-by}, .sizes = {cx.extent(x, axis)}, .strides = {1}, .axes = {axis}, .mode = SliceMode::kFill});
}

/// Sums along an axis by doubling: sums of 1, 2, 4 ... neighbours, no tensor larger than x. Twice as many steps as n
/// has bits.
Result<ValueId> sums_by_doubling(ImportContext& cx, ValueId x, int axis, bool exclusive, bool reverse) {
  const int64_t n = cx.extent(x, axis).value(), direction = reverse ? -1 : 1;
  ValueId y = exclusive ? TRY(moved(cx, x, axis, direction)) : x;
  for (int64_t count = 1; count < n; count *= 2) {
    y = TRY(binary(cx, ElementWiseKind::kSum, y, TRY(moved(cx, y, axis, direction * count))));
    if (count > n / 2) break;  // twice as many may be more than int64 holds
  }
  return y;
}

/// The number of terms of all sums. Extents that are known at run time only count as 1.
int64_t num_terms(ImportContext& cx, ValueId x, int axis) {
  double count = static_cast<double>(cx.extent(x, axis).value());
  for (const sym::Expr& extent : cx.type(x).shape)
    if (extent.is_const()) count *= static_cast<double>(extent.value());
  return static_cast<int64_t>(std::min(count, 1e18));
}

/// The sum of all elements up to each element. A triangle of ones selects the terms, as in a matrix product. They are
/// selected instead of multiplied, so that integers stay exact and infinities do not spread.
Result<ValueId> sums_along(ImportContext& cx, ValueId x, int axis) {
  const bool exclusive = TRY(cx.node().get_int("exclusive", 0)) != 0;
  const bool reverse = TRY(cx.node().get_int("reverse", 0)) != 0;
  if (cx.extent(x, axis).is_const() && num_terms(cx, x, axis) > kMostTerms)
    return sums_by_doubling(cx, x, axis, exclusive, reverse);
  // [..., n, m, ...]: the element added along axis, the sum along axis + 1.
  const int rank = cx.rank(x) + 1;
  const ValueId added = TRY(indices_along(cx, cx.extent(x, axis), axis, rank));
  const ValueId sums = TRY(indices_along(cx, cx.extent(x, axis), axis + 1, rank));
  const ElementWiseKind comes_before = reverse ? ElementWiseKind::kGreater : ElementWiseKind::kLess;
  ValueId counts = TRY(binary(cx, comes_before, added, sums));
  if (!exclusive)
    counts = TRY(binary(cx, ElementWiseKind::kOr, counts, TRY(binary(cx, ElementWiseKind::kEqual, added, sums))));
  const ValueId terms = TRY(unsqueeze(cx, x, {axis + 1}));
  const ValueId kept = TRY(select(cx, counts, terms, scalar_like(cx, 0, terms)));
  return reduce(cx, ReduceKind::kSum, kept, {axis}, false);
}

}  // namespace

/// Imports CumSum. If the axis is known at run time only, the sums along every axis are computed and one is selected.
Status cum_sum(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0)), given = TRY(cx.input(1));
  const int rank = cx.rank(x);
  TRY(require(sym::provably_equal(cx.type(given).volume(), 1), "axis is ", cx.type(given), "; one number is needed"));
  if (cx.is_constant(given))
    return cx.output(TRY(sums_along(cx, x, TRY(cx.axis(TRY(cx.ints(given, "axis"))[0], rank)))));
  const ValueId axis = TRY(reshape(cx, given, Shape{}));
  ValueId y = TRY(sums_along(cx, x, 0));
  for (int i = 1; i < rank; ++i) {
    const auto is = [&](int number) { return binary(cx, ElementWiseKind::kEqual, axis, number); };
    const ValueId here = TRY(binary(cx, ElementWiseKind::kOr, TRY(is(i)), TRY(is(i - rank))));
    y = TRY(select(cx, here, TRY(sums_along(cx, x, i)), y));
  }
  return cx.output(y);
}

}  // namespace kiln::onnx::importers
