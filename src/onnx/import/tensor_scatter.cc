#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/concatenation.h"
#include "ops/scatter.h"

namespace kiln::onnx::importers {

/// Imports TensorScatter: rows written into a cache from an index of each batch on, which may wrap at the end.
Status tensor_scatter(ImportContext& cx) {
  const ValueId cache = TRY(cx.input(0)), update = TRY(cx.input(1));
  const int rank = cx.rank(cache), axis = TRY(cx.axis(TRY(cx.node().get_int("axis", -2)), rank));
  const std::string_view mode = TRY(cx.node().get_string("mode", "linear"));
  TRY(require(mode == "linear" || mode == "circular", "mode is '", mode, "'; linear or circular is needed"));
  TRY(require(axis > 0 && cx.rank(update) == rank, "axis ", axis, " of past_cache ", cx.type(cache), " and update ",
              cx.type(update), "; equal ranks and an axis behind the batches are needed"));
  const DType dtype = cx.has_input(2) ? cx.dtype(cx.inputs()[2]) : DType::kI64;
  const Shape written = cx.type(update).shape;
  const Shape rows(written.begin(), written.begin() + axis + 1);  // that are written whole
  ValueId at = TRY(indices_along(cx, rows.back(), axis, axis + 1, dtype));
  if (cx.has_input(2)) {
    Shape batches(rows.size(), 1);
    batches[0] = rows[0];
    at = TRY(binary(cx, ElementWiseKind::kSum, at, TRY(reshape(cx, cx.inputs()[2], batches))));
  }
  if (mode == "circular") {
    const ValueId length = TRY(scalar_value(cx, cx.extent(cache, axis), dtype));
    const ValueId rounds = TRY(binary(cx, ElementWiseKind::kFloorDiv, at, length));
    at = TRY(binary(cx, ElementWiseKind::kSub, at, TRY(binary(cx, ElementWiseKind::kProd, rounds, length))));
  } else if (cx.has_input(2)) {
    at = TRY(refuse_negative(cx, at, cx.extent(cache, axis)));
  }
  Values coordinates;
  for (int i = 0; i <= axis; ++i) {
    const ValueId along = i == axis ? at : TRY(indices_along(cx, rows[static_cast<size_t>(i)], i, axis + 1, dtype));
    coordinates.push_back(TRY(unsqueeze(cx, TRY(expand(cx, along, rows)), {axis + 1})));
  }
  const ValueId indices = TRY(cx.add(ops::Concatenation{axis + 1}, coordinates));
  return cx.output(TRY(cx.add(ops::Scatter{.mode = ScatterMode::kNd}, {cache, indices, update})));
}

}  // namespace kiln::onnx::importers
