#include <bit>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "onnx/import/window.h"
#include "ops/cast.h"
#include "ops/concatenation.h"
#include "ops/grid_sample.h"

namespace kiln::onnx::importers {
namespace {

constexpr int64_t kMostPoints = 1 << 16;  ///< of a kernel: each has a position of its own

/// A deformable convolution of [batch, channels, height, width].
struct Deformable {
  WindowAttributes window;
  int64_t groups, offset_groups;
  sym::Expr batch, channels, height, width, out_height, out_width;
  /// Extents of x with zeros behind it. Positions are fractions of them, and those of powers of two are exact.
  sym::Expr padded_height, padded_width;
  int64_t points() const { return window.kernel[0] * window.kernel[1]; }
};

/// Positions that points of the kernel have along one spatial axis without offsets: [1, points, out, 1], or
/// [1, points, 1, out] along the last.
Result<ValueId> positions(ImportContext& cx, const Deformable& conv, size_t axis, DType type) {
  std::vector<double> of_points;
  for (int64_t point = 0; point < conv.points(); ++point) {
    const int64_t at = axis == 0 ? point / conv.window.kernel[1] : point % conv.window.kernel[1];
    of_points.push_back(static_cast<double>(at * conv.window.dilations[axis] - conv.window.pre_pads[axis]));
  }
  const ValueId points = cx.add_constant(HostTensor::of(type, {1, conv.points(), 1, 1}, of_points));
  const sym::Expr extent = axis == 0 ? conv.out_height : conv.out_width;
  const ValueId index = TRY(indices_along(cx, extent, static_cast<int>(axis) + 2, 4, type));
  const ValueId first = TRY(binary(cx, ElementWiseKind::kProd, index, static_cast<double>(conv.window.strides[axis])));
  return binary(cx, ElementWiseKind::kSum, first, points);
}

/// Where to sample along an axis, of images with an offset group each, in GridSample's unit: (2 p + 1) / extent - 1.
/// [batch * offset groups, points, out height, out width, 1]
Result<ValueId> grid(ImportContext& cx, const Deformable& conv, ValueId offsets, size_t axis) {
  using enum ElementWiseKind;
  const DType type = cx.dtype(offsets);
  const ValueId of_axis = TRY(slice(cx, offsets, {{static_cast<int64_t>(axis)}, {1}, {1}, {2}}));
  const ValueId moved =
      TRY(reshape(cx, of_axis, {conv.batch * conv.offset_groups, conv.points(), conv.out_height, conv.out_width}));
  const ValueId at = TRY(binary(cx, kSum, moved, TRY(positions(cx, conv, axis, type))));
  const ValueId middle = TRY(binary(cx, kSum, TRY(binary(cx, kProd, at, 2)), 1));
  const sym::Expr extent = axis == 0 ? conv.padded_height : conv.padded_width;
  const ValueId size = TRY(cast(cx, TRY(with_rank(cx, TRY(scalar_value(cx, extent)), 4)), type));
  return unsqueeze(cx, TRY(binary(cx, kSub, TRY(binary(cx, kDiv, middle, size)), scalar_like(cx, 1, middle))), {4});
}

/// The elements of x that each point of the kernel meets: [batch, groups, channels of a group * points, pixels].
Result<ValueId> columns(ImportContext& cx, const Deformable& conv) {
  const ValueId x = TRY(cx.input(0));
  const sym::Expr images = conv.batch * conv.offset_groups, pixels = conv.out_height * conv.out_width;
  const ValueId offsets =
      TRY(reshape(cx, TRY(cx.input(2)), {images, conv.points(), 2, conv.out_height, conv.out_width}));
  const ValueId rows = TRY(grid(cx, conv, offsets, 0)), columns = TRY(grid(cx, conv, offsets, 1));
  ValueId at = TRY(cx.add(ops::Concatenation{4}, {columns, rows}));
  at = TRY(reshape(cx, at, {images, conv.out_height * conv.points(), conv.out_width, 2}));
  const sym::Expr channels = sym::floor_div(conv.channels, conv.offset_groups);
  const ValueId split = TRY(reshape(cx, x, {images, channels, conv.height, conv.width}));
  const ValueId padded =
      TRY(slice(cx, split, {{0, 0}, {conv.padded_height, conv.padded_width}, {1, 1}, {2, 3}, SliceMode::kFill}));
  ValueId y = TRY(cx.add(ops::GridSample{}, {padded, at}));
  if (cx.has_input(4)) {
    const ValueId mask =
        TRY(reshape(cx, TRY(cx.input(4)), {images, 1, conv.out_height * conv.points(), conv.out_width}));
    y = TRY(binary(cx, ElementWiseKind::kProd, y, mask));
  }
  return reshape(cx, y, {conv.batch, conv.groups, sym::floor_div(conv.channels, conv.groups) * conv.points(), pixels});
}

Result<Deformable> deformable(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0)), w = TRY(cx.input(1)), offset = TRY(cx.input(2));
  TRY(require(cx.rank(x) == 4 && cx.rank(w) == 4 && cx.rank(offset) == 4, "x is ", cx.type(x), ", w ", cx.type(w),
              " and offset ", cx.type(offset), "; images with two spatial axes are supported"));
  Deformable conv{TRY(window_attributes(cx, 2)),
                  TRY(cx.node().get_int("group", 1)),
                  TRY(cx.node().get_int("offset_group", 1)),
                  cx.extent(x, 0),
                  cx.extent(x, 1),
                  cx.extent(x, 2),
                  cx.extent(x, 3),
                  cx.extent(offset, 2),
                  cx.extent(offset, 3)};
  const auto padded = [](sym::Expr extent) {
    const auto known = extent.constant();
    return known && *known > 0 ? sym::Expr(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(*known)))) : extent;
  };
  conv.padded_height = padded(conv.height);
  conv.padded_width = padded(conv.width);
  for (size_t axis = 0; axis < 2 && conv.window.kernel.size() < 2; ++axis) {
    const auto extent = cx.extent(w, static_cast<int>(axis) + 2).constant();
    TRY(require(extent.has_value(), "w is ", cx.type(w), "; the kernel's extents must be constants"));
    conv.window.kernel.push_back(*extent);
  }
  const Ints& kernel = conv.window.kernel;
  TRY(require(kernel[0] <= kMostPoints && kernel[1] <= kMostPoints && conv.points() <= kMostPoints, "the kernel is ",
              kernel, "; ", kMostPoints, " points are the most that Kiln takes"));
  TRY(require(conv.groups > 0 && conv.offset_groups > 0, "group is ", conv.groups, " and offset_group ",
              conv.offset_groups, "; both must be positive"));
  const auto channels = conv.channels.constant();
  TRY(require(channels && *channels % conv.groups == 0 && *channels % conv.offset_groups == 0, "x is ", cx.type(x),
              "; its channels must be a constant, a multiple of group ", conv.groups, " and of offset_group ",
              conv.offset_groups));
  TRY(require_equal(cx, cx.extent(offset, 1), 2 * sym::Expr(conv.offset_groups) * conv.points(),
                    "channels of offset and its points"));
  TRY(require_equal(cx, cx.extent(w, 1) * conv.groups, conv.channels, "channels of w in all groups and channels of x"));
  return conv;
}

}  // namespace

/// Imports DeformConv: x sampled where the offsets say, by GridSample, then a product with the weights.
Status deform_conv(ImportContext& cx) {
  const Deformable conv = TRY(deformable(cx));
  const ValueId w = TRY(cx.input(1));
  const sym::Expr out_channels = cx.extent(w, 0), of_group = sym::floor_div(out_channels, conv.groups);
  const sym::Expr inner = cx.extent(w, 1) * conv.points();
  const ValueId weights = TRY(reshape(cx, w, {1, conv.groups, of_group, inner}));
  ValueId y = TRY(matrix_multiply(cx, weights, TRY(columns(cx, conv))));
  y = TRY(reshape(cx, y, {conv.batch, out_channels, conv.out_height, conv.out_width}));
  if (cx.has_input(3)) y = TRY(binary(cx, ElementWiseKind::kSum, y, TRY(along_channels(cx, TRY(cx.input(3)), 4))));
  return cx.output(y);
}

}  // namespace kiln::onnx::importers
