#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

/// The positions of an axis's pixels between its ends -1 and 1, along `axis` of a tensor of `rank` axes.
Result<ValueId> positions(ImportContext& cx, sym::Expr extent, int axis, int rank, bool align_corners) {
  const ValueId i = TRY(indices_along(cx, extent, axis, rank, DType::kF32));
  const ValueId twice = TRY(binary(cx, ElementWiseKind::kProd, i, 2));
  const ValueId count = TRY(scalar_value(cx, align_corners ? sym::max(extent - 1, 1) : extent));
  const ValueId from = align_corners ? twice : TRY(binary(cx, ElementWiseKind::kSum, twice, 1));
  const ValueId share = TRY(binary(cx, ElementWiseKind::kDiv, from, TRY(cast(cx, count, DType::kF32))));
  return binary(cx, ElementWiseKind::kSub, share, 1);
}

}  // namespace

/// Imports AffineGrid: the positions of all pixels, as a row of theta maps them.
Status affine_grid(ImportContext& cx) {
  const ValueId theta = TRY(cx.input(0));
  const SymbolicValues size = TRY(cx.values(TRY(cx.input(1)), "size"));
  const auto axes = static_cast<int>(size.size()) - 2;
  const bool align_corners = TRY(cx.node().get_int("align_corners", 0)) != 0;
  TRY(require(axes == 2 || axes == 3, "size has ", size.size(), " numbers; 4 or 5 are needed"));
  TRY(require(cx.rank(theta) == 3 && sym::provably_equal(cx.extent(theta, 1), axes) &&
                  sym::provably_equal(cx.extent(theta, 2), axes + 1),
              "theta is ", cx.type(theta), "; [N, ", axes, ", ", axes + 1, "] is needed"));
  TRY(require_equal(cx, cx.extent(theta, 0), size[0], "the batches of theta and of size"));
  const int rank = axes + 2;
  Shape column{cx.extent(theta, 0)};  // of theta, as it broadcasts with all pixels
  column.insert(column.end(), static_cast<size_t>(axes), 1);
  column.push_back(axes);
  const auto column_of = [&](int j) -> Result<ValueId> {
    return reshape(cx, TRY(slice(cx, theta, {{j}, {1}, {1}, {2}})), column);
  };
  ValueId y = TRY(column_of(axes));
  for (int j = 0; j < axes; ++j) {  // x is the last axis
    const int axis = axes - j;
    const ValueId at = TRY(positions(cx, size[static_cast<size_t>(axis) + 1], axis, rank, align_corners));
    const ValueId product =
        TRY(binary(cx, ElementWiseKind::kProd, TRY(column_of(j)), TRY(cast(cx, at, cx.dtype(theta)))));
    y = TRY(binary(cx, ElementWiseKind::kSum, product, y));
  }
  return cx.output(y);
}

}  // namespace kiln::onnx::importers
