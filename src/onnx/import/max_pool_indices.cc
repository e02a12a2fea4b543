#include "onnx/import/max_pool_indices.h"

#include <limits>

#include "ops/slice.h"

namespace kiln::onnx {
namespace {

using ops::ElementWiseKind;

constexpr int64_t kMostTaps = 1024;
constexpr int64_t kLargestPlane = int64_t{1} << 30;  // elements of a channel: with pads, indices fit in int64

/// The spatial geometry of a pool.
struct Windows {
  SymbolicValues in, out, pads;  ///< pads: before each axis
  const ops::Pooling& pool;

  size_t axes() const { return in.size(); }
  /// The element of x that tap `tap` of output 0 reads along `axis`; may lie outside.
  sym::Expr first_position(size_t axis, int64_t tap) const { return tap * pool.dilations[axis] - pads[axis]; }
};

SymbolicValues spatial_extents(const ImportContext& cx, ValueId value) {
  SymbolicValues result;
  for (int axis = 2; axis < cx.rank(value); ++axis) result.push_back(cx.extent(value, axis));
  return result;
}

sym::Expr pad_before(const ops::Pooling& pool, size_t axis, sym::Expr in, sym::Expr out) {
  if (!is_same(pool.padding)) return pool.pre_pads[axis];
  const sym::Expr reach = (out - 1) * pool.strides[axis] + (pool.window[axis] - 1) * pool.dilations[axis] + 1;
  const sym::Expr total = sym::max(reach - in, 0);
  return pool.padding == ops::PaddingMode::kSameUpper ? sym::floor_div(total, 2) : sym::ceil_div(total, 2);
}

/// Distances, by axis, of two neighbours in the indices of a channel.
SymbolicValues index_strides(const Windows& w, bool column_major) {
  SymbolicValues strides(w.axes(), 1);
  for (size_t k = 1; k < w.axes(); ++k) {
    const size_t axis = column_major ? k : w.axes() - 1 - k, before = column_major ? axis - 1 : axis + 1;
    strides[axis] = strides[before] * w.in[before];
  }
  return strides;
}

/// The index, within a channel, of the element that each output's tap 0 reads: [1, 1, out...]. The distance from tap 0
/// to another tap is the same at every output, so no index tensor need be as large as y.
Result<ValueId> first_tap_indices(ImportContext& cx, const Windows& w, const SymbolicValues& strides) {
  const int rank = static_cast<int>(w.axes()) + 2;
  sym::Expr first = 0;
  for (size_t axis = 0; axis < w.axes(); ++axis) first -= w.pads[axis] * strides[axis];
  ValueId indices = TRY(scalar_value(cx, first));
  for (size_t axis = 0; axis < w.axes(); ++axis) {
    const ValueId ramp = TRY(indices_along(cx, w.out[axis], static_cast<int>(axis) + 2, rank));
    const ValueId step = TRY(scalar_value(cx, w.pool.strides[axis] * strides[axis]));
    indices = TRY(binary(cx, ElementWiseKind::kSum, indices, TRY(binary(cx, ElementWiseKind::kProd, ramp, step))));
  }
  return indices;
}

/// How far a tap is from tap 0.
sym::Expr offset_of(const Windows& w, const SymbolicValues& strides, const Extents& tap) {
  sym::Expr offset = 0;
  for (size_t axis = 0; axis < w.axes(); ++axis) offset += tap[axis] * w.pool.dilations[axis] * strides[axis];
  return offset;
}

/// The elements that one tap reads, in y's shape; `lowest` beyond the edges.
Result<ValueId> tap_values(ImportContext& cx, const Windows& w, const Extents& tap, ValueId x, ValueId lowest) {
  SliceAlong along;
  along.mode = SliceMode::kFill;
  along.fill = lowest;
  for (size_t axis = 0; axis < w.axes(); ++axis) {
    along.axes.push_back(static_cast<int64_t>(axis) + 2);
    along.starts.push_back(w.first_position(axis, tap[axis]));
    along.sizes.push_back(w.out[axis]);
    along.strides.push_back(w.pool.strides[axis]);
  }
  return slice(cx, x, along);
}

}  // namespace

Result<ValueId> max_pool_indices(ImportContext& cx, const ops::Pooling& pool, ValueId x, ValueId y, bool column_major) {
  Windows w{spatial_extents(cx, x), spatial_extents(cx, y), {}, pool};
  for (size_t axis = 0; axis < w.axes(); ++axis) w.pads.push_back(pad_before(pool, axis, w.in[axis], w.out[axis]));
  const int64_t num_taps = TRY(checked_volume(pool.window));
  if (num_taps > kMostTaps)
    return error(Code::kUnsupported, "indices of a maximum over ", num_taps, " elements; at most ", kMostTaps);
  const sym::Expr plane_elements = sym::product(w.in);
  if (!plane_elements.is_valid() || plane_elements.min() > kLargestPlane)
    return error(Code::kUnsupported, "indices of a maximum in channels of ", w.in, " elements; at most ",
                 kLargestPlane);
  const SymbolicValues strides = index_strides(w, column_major);
  const bool floats = is_float(cx.dtype(x));
  const ValueId lowest = scalar_of(cx,
                                   floats                      ? -std::numeric_limits<double>::infinity()
                                   : cx.dtype(x) == DType::kU8 ? 0
                                                               : -128,
                                   cx.dtype(x));
  ValueId offsets = scalar_of(cx, 0, DType::kI64, cx.rank(x));
  for (int64_t t = num_taps; t-- > 0;) {  // from the back, so that the first that equals y is written last
    Extents tap(w.axes(), 0);
    for (int64_t axis = static_cast<int64_t>(w.axes()) - 1, left = t; axis >= 0; --axis) {
      tap[static_cast<size_t>(axis)] = left % pool.window[static_cast<size_t>(axis)];
      left /= pool.window[static_cast<size_t>(axis)];
    }
    const ValueId is_maximum = TRY(binary(cx, ElementWiseKind::kEqual, TRY(tap_values(cx, w, tap, x, lowest)), y));
    const ValueId offset = TRY(scalar_value(cx, offset_of(w, strides, tap)));
    offsets = TRY(select(cx, is_maximum, offset, offsets));
  }
  const ValueId indices = TRY(binary(cx, ElementWiseKind::kSum, TRY(first_tap_indices(cx, w, strides)), offsets));
  const ValueId sample = TRY(indices_along(cx, cx.extent(x, 0), 0, cx.rank(x)));
  const ValueId channel = TRY(indices_along(cx, cx.extent(x, 1), 1, cx.rank(x)));
  const ValueId channels = TRY(scalar_value(cx, cx.extent(x, 1), DType::kI64));
  const ValueId plane =
      TRY(binary(cx, ElementWiseKind::kSum, TRY(binary(cx, ElementWiseKind::kProd, sample, channels)), channel));
  const ValueId size = TRY(scalar_value(cx, plane_elements));
  return binary(cx, ElementWiseKind::kSum, indices, TRY(binary(cx, ElementWiseKind::kProd, plane, size)));
}

}  // namespace kiln::onnx
