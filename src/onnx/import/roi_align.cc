#include "ops/roi_align.h"

#include <limits>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/gather.h"

namespace kiln::onnx::importers {
namespace {

/// Column `i` of the regions, f32 [regions, 1].
Result<ValueId> column(ImportContext& cx, ValueId rois, int64_t i) {
  return slice(cx, rois, {.starts = {i}, .sizes = {1}, .strides = {1}, .axes = {1}});
}

/// A region's edge in whole pixels of x, f32 [regions, 1]: halves are rounded away from zero, which edges lie above.
Result<ValueId> edge(ImportContext& cx, ValueId rois, int64_t i, double scale) {
  const ValueId scaled = TRY(binary(cx, ElementWiseKind::kProd, TRY(column(cx, rois, i)), scale));
  return unary(cx, UnaryKind::kFloor, TRY(binary(cx, ElementWiseKind::kSum, scaled, 0.5)));
}

/// Which of the `extent` pixels of an axis are in which of the `count` bins of each region, whose edges are columns
/// `from` and `to`: bool [regions, count, extent]. Bins are of equal size and share the pixels that they cut.
Result<ValueId> bins(ImportContext& cx, ValueId rois, int64_t from, int64_t to, double scale, int64_t count,
                     const sym::Expr& extent) {
  const auto real = [&](const sym::Expr& n, int axis, int rank) -> Result<ValueId> {
    return cast(cx, TRY(indices_along(cx, n, axis, rank)), cx.dtype(rois));
  };
  const ValueId first = TRY(edge(cx, rois, from, scale)), last = TRY(edge(cx, rois, to, scale));
  const ValueId length = TRY(binary(cx, ElementWiseKind::kSum, TRY(binary(cx, ElementWiseKind::kSub, last, first)), 1));
  const ValueId size = TRY(
      binary(cx, ElementWiseKind::kDiv, TRY(binary(cx, ElementWiseKind::kMax, length, 1)), static_cast<double>(count)));
  const ValueId bin = TRY(real(count, 1, 2)), next = TRY(binary(cx, ElementWiseKind::kSum, bin, 1));
  const auto bound = [&](UnaryKind rounded, ValueId number) -> Result<ValueId> {
    const ValueId within = TRY(unary(cx, rounded, TRY(binary(cx, ElementWiseKind::kProd, number, size))));
    return unsqueeze(cx, TRY(binary(cx, ElementWiseKind::kSum, within, first)), {2});
  };
  const ValueId begin = TRY(bound(UnaryKind::kFloor, bin)), end = TRY(bound(UnaryKind::kCeil, next));
  const ValueId pixel = TRY(real(extent, 2, 3));
  const ValueId before = TRY(binary(cx, ElementWiseKind::kLess, pixel, begin));
  return binary(cx, ElementWiseKind::kAnd, TRY(unary(cx, UnaryKind::kNot, before)),
                TRY(binary(cx, ElementWiseKind::kLess, pixel, end)));
}

}  // namespace

/// Imports MaxRoiPool: maxima over the rows of each bin, then over its columns; 0 where a bin has no pixel. The rows'
/// maxima are computed of one copy of x a region and row of bins, which takes memory.
Status max_roi_pool(ImportContext& cx) {
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  const ValueId x = TRY(cx.input(0)), rois = TRY(cx.input(1));
  TRY(require(cx.rank(x) == 4 && cx.rank(rois) == 2, "x is ", cx.type(x), " and rois are ", cx.type(rois),
              "; [N, C, H, W] and [regions, 5] are needed"));
  const Ints pooled = TRY(cx.node().need_ints("pooled_shape"));
  TRY(require(pooled.size() == 2 && pooled[0] > 0 && pooled[1] > 0, "pooled_shape is ", pooled,
              "; two positive numbers are needed"));
  const double scale = TRY(cx.node().get_float("spatial_scale", 1));
  const ValueId rows = TRY(bins(cx, rois, 2, 4, scale, pooled[0], cx.extent(x, 2)));
  const ValueId columns = TRY(bins(cx, rois, 1, 3, scale, pooled[1], cx.extent(x, 3)));
  ValueId image = TRY(cast(cx, TRY(column(cx, rois, 0)), DType::kI64));
  image = TRY(reshape(cx, image, {cx.extent(rois, 0)}));
  const ValueId each = TRY(unsqueeze(cx, TRY(cx.add(ops::Gather{.axis = 0}, {x, image})), {2}));
  const auto most = [&](ValueId in, ValueId of, int axis) -> Result<ValueId> {
    const ValueId chosen = TRY(select(cx, in, of, scalar_like(cx, kLeast, of)));
    return reduce(cx, ReduceKind::kMax, chosen, {axis}, false);
  };
  const ValueId of_rows = TRY(most(TRY(unsqueeze(cx, rows, {1, 4})), each, 3));  // [regions, C, bins, W]
  const ValueId y = TRY(most(TRY(unsqueeze(cx, columns, {1, 2})), TRY(unsqueeze(cx, of_rows, {3})), 4));
  const ValueId is_empty = TRY(binary(cx, ElementWiseKind::kEqual, y, kLeast));
  return cx.output(TRY(select(cx, is_empty, scalar_like(cx, 0, y), y)));
}

/// Imports RoiAlign. Before opset 16 pixels had their centres at whole numbers.
Status roi_align(ImportContext& cx) {
  const std::string_view mode = TRY(cx.node().get_string("mode", "avg")),
                         older = cx.opset() < 16 ? "output_half_pixel" : "half_pixel",
                         transformation = TRY(cx.node().get_string("coordinate_transformation_mode", older));
  TRY(require(mode == "avg" || mode == "max", "mode is '", mode, "'; avg or max is needed"));
  TRY(require(transformation == "half_pixel" || transformation == "output_half_pixel",
              "coordinate_transformation_mode is '", transformation, "'; half_pixel or output_half_pixel is needed"));
  ops::RoiAlign op;
  op.mode = mode == "max" ? RoiMode::kMax : RoiMode::kAverage;
  op.half_pixel = transformation == "half_pixel";
  op.height = TRY(cx.int_attribute("output_height", 1));
  op.width = TRY(cx.int_attribute("output_width", 1));
  op.sampling_ratio = TRY(cx.int_attribute("sampling_ratio", 0));
  op.spatial_scale = double{TRY(cx.node().get_float("spatial_scale", 1))};
  return cx.output(TRY(cx.add(op, {TRY(cx.input(0)), TRY(cx.input(1)), TRY(cx.input(2))})));
}

}  // namespace kiln::onnx::importers
