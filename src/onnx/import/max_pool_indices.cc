#include "onnx/import/max_pool_indices.h"

#include <limits>

#include "ops/slice.h"

namespace kiln::onnx {
namespace {

using ops::ElementWiseKind;

constexpr int64_t kMostTaps = 1024;
constexpr int64_t kLargestPlane = int64_t{1} << 30;  // elements of a channel: with pads, indices fit in int64

/// The spatial geometry of a pool whose extents are known.
struct Windows {
  Extents in, out, pads;  ///< pads: before each axis
  const ops::Pooling& pool;

  size_t axes() const { return in.size(); }
  /// The element of x that tap `tap` of output `o` reads along `axis`; may lie outside.
  int64_t position(size_t axis, int64_t o, int64_t tap) const {
    return o * pool.strides[axis] + tap * pool.dilations[axis] - pads[axis];
  }
};

Result<Extents> spatial_extents(ImportContext& cx, ValueId value) {
  Extents result;
  for (int axis = 2; axis < cx.rank(value); ++axis) {
    const auto extent = cx.extent(value, axis).constant();
    if (!extent) return error(Code::kUnsupported, "indices of a maximum need constant extents; x is ", cx.type(value));
    result.push_back(*extent);
  }
  return result;
}

int64_t pad_before(const ops::Pooling& pool, size_t axis, int64_t in, int64_t out) {
  if (!is_same(pool.padding)) return pool.pre_pads[axis];
  const int64_t reach = (out - 1) * pool.strides[axis] + (pool.window[axis] - 1) * pool.dilations[axis] + 1;
  const int64_t total = std::max<int64_t>(reach - in, 0);
  return pool.padding == ops::PaddingMode::kSameUpper ? total / 2 : total - total / 2;
}

/// Distances, by axis, of two neighbours in the indices of a channel.
Extents index_strides(const Windows& w, bool column_major) {
  Extents strides(w.axes(), 1);
  for (size_t k = 1; k < w.axes(); ++k) {
    const size_t axis = column_major ? k : w.axes() - 1 - k, before = column_major ? axis - 1 : axis + 1;
    strides[axis] = strides[before] * w.in[before];
  }
  return strides;
}

/// The index, within a channel, of the element that each output's tap 0 reads: [1, 1, out...]. The distance from tap 0
/// to another tap is the same at every output, so no index tensor need be as large as y.
Result<ValueId> first_tap_indices(ImportContext& cx, const Windows& w, const Extents& strides) {
  const int rank = static_cast<int>(w.axes()) + 2;
  int64_t first = 0;
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
int64_t offset_of(const Windows& w, const Extents& strides, const Extents& tap) {
  int64_t offset = 0;
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
    along.starts.push_back(w.position(axis, 0, tap[axis]));
    along.sizes.push_back(w.out[axis]);
    along.strides.push_back(w.pool.strides[axis]);
  }
  return slice(cx, x, along);
}

}  // namespace

Result<ValueId> max_pool_indices(ImportContext& cx, const ops::Pooling& pool, ValueId x, ValueId y, bool column_major) {
  Windows w{TRY(spatial_extents(cx, x)), TRY(spatial_extents(cx, y)), {}, pool};
  for (size_t axis = 0; axis < w.axes(); ++axis) w.pads.push_back(pad_before(pool, axis, w.in[axis], w.out[axis]));
  const int64_t num_taps = TRY(checked_volume(pool.window));
  if (num_taps > kMostTaps)
    return error(Code::kUnsupported, "indices of a maximum over ", num_taps, " elements; at most ", kMostTaps);
  const auto plane_elements = checked_volume(w.in);
  if (!plane_elements || *plane_elements > kLargestPlane)
    return error(Code::kUnsupported, "indices of a maximum in channels of ", w.in, " elements; at most ",
                 kLargestPlane);
  const Extents strides = index_strides(w, column_major);
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
  const ValueId size = cx.add_constant(HostTensor::of_ints(DType::kI64, {}, Extents{*plane_elements}));
  return binary(cx, ElementWiseKind::kSum, indices, TRY(binary(cx, ElementWiseKind::kProd, plane, size)));
}

}  // namespace kiln::onnx
