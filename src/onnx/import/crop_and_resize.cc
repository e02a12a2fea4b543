/// CropAndResize of com.microsoft: regions of images, whose corners are relative to the image's, at points of a grid.
#include <array>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/concatenation.h"
#include "ops/gather.h"

namespace kiln::onnx::importers::microsoft {
namespace {

using enum ElementWiseKind;

/// The points of each region along one axis of the image, f32 [regions, points].
struct Points {
  ValueId at;         ///< in pixels; 0 where they are outside
  ValueId is_inside;  ///< of the image
};

/// Column `i` of the regions, f32 [regions, 1].
Result<ValueId> column(ImportContext& cx, ValueId rois, int64_t i) {
  return slice(cx, rois, {.starts = {i}, .sizes = {1}, .strides = {1}, .axes = {1}});
}

/// `count` points between two edges, the edges among them; the middle, where there is one point. The last is the edge
/// itself, which rounding would miss.
Result<Points> points(ImportContext& cx, ValueId rois, int64_t from, int64_t to, int64_t count, sym::Expr extent) {
  Points points{};
  const ValueId last = TRY(with_rank(cx, TRY(cast(cx, TRY(scalar_value(cx, extent - 1)), DType::kF32)), 2));
  const ValueId begin = TRY(binary(cx, kProd, TRY(column(cx, rois, from)), last));
  const ValueId end = TRY(binary(cx, kProd, TRY(column(cx, rois, to)), last));
  if (count == 1) {
    points.at = TRY(binary(cx, kProd, TRY(binary(cx, kSum, begin, end)), 0.5));
  } else {
    const ValueId step = TRY(binary(cx, kDiv, TRY(binary(cx, kSub, end, begin)), static_cast<double>(count - 1)));
    const ValueId number = TRY(indices_along(cx, count, 1, 2, DType::kF32));
    const ValueId between = TRY(binary(cx, kSum, begin, TRY(binary(cx, kProd, number, step))));
    const ValueId is_last = TRY(binary(cx, kEqual, number, static_cast<double>(count - 1)));
    points.at = TRY(select(cx, is_last, end, between));
  }
  const ValueId within = TRY(binary(cx, kMin, TRY(binary(cx, kMax, points.at, 0)), last));
  points.is_inside = TRY(binary(cx, kEqual, points.at, within));  // which NaN is not
  points.at = TRY(select(cx, points.is_inside, points.at, scalar_like(cx, 0, points.at)));
  return points;
}

/// Pixels of x, [regions, rows, columns, channels].
class Pixels {
 public:
  Pixels(ImportContext& cx, ValueId channels_last, ValueId image, const Points& y, const Points& x)
      : cx_(cx), images_(channels_last), image_(image), y_(y), x_(x) {}

  /// The pixels at the points, with each coordinate rounded.
  Result<ValueId> at(UnaryKind round_y, UnaryKind round_x) {
    return pixels(TRY(unary(cx_, round_y, y_.at)), TRY(unary(cx_, round_x, x_.at)));
  }
  /// The pixels nearest to the points, of two the one behind.
  Result<ValueId> nearest() {
    const auto rounded = [&](ValueId at) -> Result<ValueId> {
      return unary(cx_, UnaryKind::kFloor, TRY(binary(cx_, kSum, at, 0.5)));
    };
    return pixels(TRY(rounded(y_.at)), TRY(rounded(x_.at)));
  }

 private:
  Result<ValueId> pixels(ValueId y, ValueId x) {
    const ValueId row = TRY(unsqueeze(cx_, TRY(cast(cx_, y, DType::kI64)), {2, 3}));
    const ValueId column = TRY(unsqueeze(cx_, TRY(cast(cx_, x, DType::kI64)), {1, 3}));
    const Shape shape{cx_.extent(row, 0), cx_.extent(row, 1), cx_.extent(column, 2), 1};
    const ValueId image = TRY(unsqueeze(cx_, image_, {1, 2, 3}));
    Values coordinates;
    for (const ValueId each : {image, row, column}) coordinates.push_back(TRY(expand(cx_, each, shape)));
    const ValueId all = TRY(cx_.add(ops::Concatenation{3}, coordinates));
    return cx_.add(ops::Gather{GatherMode::kNd, 0, 0}, {images_, all});
  }

  ImportContext& cx_;
  const ValueId images_, image_;
  const Points &y_, &x_;
};

/// a where the coordinate is whole, and on the way to b by its fraction, which has axes added.
Result<ValueId> between(ImportContext& cx, ValueId a, ValueId b, ValueId at, Ints axes) {
  const ValueId fraction = TRY(binary(cx, kSub, at, TRY(unary(cx, UnaryKind::kFloor, at))));
  const ValueId share = TRY(unsqueeze(cx, fraction, std::move(axes)));
  return binary(cx, kSum, a, TRY(binary(cx, kProd, TRY(binary(cx, kSub, b, a)), share)));
}

Result<ValueId> sampled(ImportContext& cx, Pixels& pixels, const Points& y, const Points& x, std::string_view mode) {
  if (mode == "nearest") return pixels.nearest();
  TRY(require(mode == "bilinear", "mode is '", mode, "'; bilinear or nearest is needed"));
  constexpr UnaryKind kFloor = UnaryKind::kFloor, kCeil = UnaryKind::kCeil;
  const auto row = [&](UnaryKind round) -> Result<ValueId> {
    return between(cx, TRY(pixels.at(round, kFloor)), TRY(pixels.at(round, kCeil)), x.at, {1, 3});
  };
  return between(cx, TRY(row(kFloor)), TRY(row(kCeil)), y.at, {2, 3});
}

}  // namespace

Status crop_and_resize(ImportContext& cx) {
  const ValueId given = TRY(cx.input(0)), image = TRY(cx.input(2));
  TRY(require(cx.rank(given) == 4 && cx.rank(TRY(cx.input(1))) == 2 && cx.rank(image) == 1, "X is ", cx.type(given),
              ", rois are ", cx.type(TRY(cx.input(1))), " and batch_indices ", cx.type(image),
              "; [N, C, H, W], [regions, 4] and [regions] are needed"));
  const Ints size = TRY(cx.ints(TRY(cx.input(3)), "crop_size"));
  TRY(require(size.size() == 2 && size[0] > 0 && size[1] > 0 && size[0] <= INT32_MAX && size[1] <= INT32_MAX,
              "crop_size is ", size, "; two positive numbers are needed"));
  const double otherwise = TRY(cx.node().get_float("extrapolation_value", 0));
  const ValueId rois = TRY(cast(cx, TRY(cx.input(1)), DType::kF32)), images = TRY(cast(cx, given, DType::kF32));
  TRY(require_equal(cx, cx.extent(rois, 1), 4, "a region's numbers and its edges"));
  TRY(require_equal(cx, cx.extent(rois, 0), cx.extent(image, 0), "the regions and the batch_indices"));
  const Points y = TRY(points(cx, rois, 0, 2, size[0], cx.extent(given, 2)));
  const Points x = TRY(points(cx, rois, 1, 3, size[1], cx.extent(given, 3)));
  Pixels pixels(cx, TRY(transpose(cx, images, {0, 2, 3, 1})), TRY(cast(cx, image, DType::kI64)), y, x);
  const ValueId found = TRY(sampled(cx, pixels, y, x, TRY(cx.node().get_string("mode", "bilinear"))));
  const ValueId is_inside =
      TRY(binary(cx, kAnd, TRY(unsqueeze(cx, y.is_inside, {2, 3})), TRY(unsqueeze(cx, x.is_inside, {1, 3}))));
  const ValueId all = TRY(select(cx, is_inside, found, scalar_like(cx, otherwise, found)));
  return cx.output(TRY(cast(cx, TRY(transpose(cx, all, {0, 3, 1, 2})), cx.dtype(given))));
}

}  // namespace kiln::onnx::importers::microsoft
