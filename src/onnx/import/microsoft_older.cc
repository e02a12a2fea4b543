/// Operators that converters took from com.microsoft before ONNX had them, or something for them.
#include "onnx/import/compose.h"
#include "onnx/import/conv.h"
#include "onnx/import/importers.h"
#include "onnx/import/pad.h"
#include "onnx/import/range.h"

namespace kiln::onnx::importers::microsoft {

Status gather_nd(ImportContext& cx) { return importers::gather_nd(cx); }
Status grid_sample(ImportContext& cx) { return importers::grid_sample(cx); }
Status trilu(ImportContext& cx) { return importers::trilu(cx); }

Status expand_dims(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const Ints axes = TRY(cx.ints(TRY(cx.input(1)), "axis"));
  TRY(require(axes.size() == 1, "axis has ", axes.size(), " elements; one is needed"));
  return cx.output(TRY(unsqueeze(cx, x, {TRY(cx.axis(axes[0], cx.rank(x) + 1))})));
}

/// Imports Range, whose delta is 1 where it is left out.
Status range(ImportContext& cx) {
  const ValueId start = TRY(cx.input(0)), limit = TRY(cx.input(1));
  return range_by(cx, {start, limit, cx.has_input(2) ? TRY(cx.input(2)) : scalar_of(cx, 1, cx.dtype(start))});
}

/// Imports Pad, whose pads may be a row, and whose value may have an axis.
Status pad(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0)), pads = TRY(cx.input(1));
  const std::string_view mode = TRY(cx.node().get_string("mode", "constant"));
  TRY(require(mode != "wrap", "mode is 'wrap'; constant, reflect or edge is needed"));
  const int rank = cx.rank(pads);
  TRY(require(rank == 1 || (rank == 2 && cx.extent(pads, 0) == sym::Expr(1)), "pads is ", cx.type(pads),
              "; one axis, or a single row, is needed"));
  const ValueId fill = cx.has_input(2) ? TRY(reshape(cx, TRY(cx.input(2)), {})) : ValueId::kNone;
  return cx.output(TRY(importers::padded(cx, x, TRY(cx.values(pads, "pads")), std::nullopt, fill)));
}

/// Imports ConvTransposeWithDynamicPads: pads are an input, which must be constant, and the bias comes behind it.
Status conv_transpose_with_dynamic_pads(ImportContext& cx) {
  constexpr size_t kPads = 2, kBias = 3;
  const int spatial = TRY(spatial_axes(cx, TRY(cx.input(0))));
  WindowAttributes w = TRY(window_attributes(cx, spatial));
  if (cx.has_input(kPads) && w.padding == ops::PaddingMode::kExplicitRoundDown) {
    const Ints pads = TRY(cx.ints(TRY(cx.input(kPads)), "Pads"));
    TRY(require(static_cast<int>(pads.size()) == 2 * spatial, "Pads is ", pads, "; ", 2 * spatial,
                " numbers are needed"));
    for (const int64_t each : pads)
      TRY(require(each >= -kLargestOfWindow && each <= kLargestOfWindow, "Pads is ", pads, "; ", each, " is outside [",
                  -kLargestOfWindow, ", ", kLargestOfWindow, "]"));
    w.pre_pads.assign(pads.begin(), pads.begin() + spatial);
    w.post_pads.assign(pads.begin() + spatial, pads.end());
  }
  return conv_transpose_by(cx, std::move(w), kBias);
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
