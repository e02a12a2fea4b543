#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

/// Each sum over those elements that come before: a product with a triangle of ones, by selection, so that integers
/// stay exact and infinities stay where they are.
Status cum_sum(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int rank = cx.rank(x);
  const Ints given = TRY(cx.ints(TRY(cx.input(1)), "axis"));
  TRY(require(given.size() == 1, "axis has ", given.size(), " elements; one is needed"));
  const int axis = TRY(cx.axis(given[0], rank));
  const bool exclusive = TRY(cx.node().get_int("exclusive", 0)) != 0;
  const bool reverse = TRY(cx.node().get_int("reverse", 0)) != 0;
  // [..., n, m, ...]: the element added along axis, the sum along axis + 1.
  const ValueId added = TRY(indices_along(cx, cx.extent(x, axis), axis, rank + 1));
  const ValueId sums = TRY(indices_along(cx, cx.extent(x, axis), axis + 1, rank + 1));
  const ElementWiseKind comes_before = reverse ? ElementWiseKind::kGreater : ElementWiseKind::kLess;
  ValueId counts = TRY(binary(cx, comes_before, added, sums));
  if (!exclusive)
    counts = TRY(binary(cx, ElementWiseKind::kOr, counts, TRY(binary(cx, ElementWiseKind::kEqual, added, sums))));
  const ValueId terms = TRY(unsqueeze(cx, x, {axis + 1}));
  const ValueId kept = TRY(select(cx, counts, terms, scalar_like(cx, 0, terms)));
  return cx.output(TRY(reduce(cx, ReduceKind::kSum, kept, {axis}, false)));
}

}  // namespace kiln::onnx::importers
