/// Operators that converters took from com.microsoft before ONNX had them, or something for them.
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers::microsoft {

Status gather_nd(ImportContext& cx) { return importers::gather_nd(cx); }
Status grid_sample(ImportContext& cx) { return importers::grid_sample(cx); }
Status range(ImportContext& cx) { return importers::range(cx); }
Status trilu(ImportContext& cx) { return importers::trilu(cx); }

Status expand_dims(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const Ints axes = TRY(cx.ints(TRY(cx.input(1)), "axis"));
  TRY(require(axes.size() == 1, "axis has ", axes.size(), " elements; one is needed"));
  return cx.output(TRY(unsqueeze(cx, x, {TRY(cx.axis(axes[0], cx.rank(x) + 1))})));
}

/// Imports CDist: the distances of each row of a to each row of b, by their differences, of which none is lost where
/// rows are close.
Status cdist(ImportContext& cx) {
  const std::string_view metric = TRY(cx.node().get_string("metric", "sqeuclidean"));
  const bool is_rooted = metric == "euclidean";
  TRY(require(is_rooted || metric == "sqeuclidean", "metric is '", metric, "'; euclidean or sqeuclidean is needed"));
  const ValueId a = TRY(cx.input(0)), b = TRY(cx.input(1));
  TRY(require(cx.rank(a) == 2 && cx.rank(b) == 2, "a is ", cx.type(a), " and b ", cx.type(b), "; matrices are needed"));
  const ValueId off = TRY(binary(cx, ElementWiseKind::kSub, TRY(unsqueeze(cx, a, {1})), TRY(unsqueeze(cx, b, {0}))));
  const ValueId squares = TRY(binary(cx, ElementWiseKind::kProd, off, off));
  const ValueId sums = TRY(reduce(cx, ReduceKind::kSum, squares, {2}, false));
  return cx.output(is_rooted ? TRY(unary(cx, UnaryKind::kSqrt, sums)) : sums);
}

}  // namespace kiln::onnx::importers::microsoft
