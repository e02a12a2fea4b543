/// A sliding window: shared by convolutions and pooling.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kiln::cpu {

/// Spatial extents in the order depth, height, width; an absent axis has extent, kernel and stride 1. Output position o
/// of an axis reads input positions o * stride - pad + k * dilation; those outside [0, in) are padding. `out` is
/// given, not derived, so that padding after the last element and rounding modes need no words here.
struct Window {
  int64_t in[3] = {1, 1, 1};
  int64_t out[3] = {1, 1, 1};
  int64_t kernel[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1};
  int64_t dilation[3] = {1, 1, 1};
  int64_t pad[3] = {0, 0, 0};  ///< before the first element

  int64_t in_pixels() const { return in[0] * in[1] * in[2]; }
  int64_t out_pixels() const { return out[0] * out[1] * out[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t start(int axis, int64_t o) const { return o * stride[axis] - pad[axis]; }
};

/// The taps [begin, end) of an axis that hit the input at output position `o`; empty if none does.
struct TapRange {
  int64_t begin, end;
};
inline TapRange taps_inside(const Window& w, int axis, int64_t o) {
  const int64_t start = w.start(axis, o), step = w.dilation[axis];
  const int64_t begin = start >= 0 ? 0 : (-start + step - 1) / step;
  const int64_t left = w.in[axis] - start;
  if (start >= 0 && (w.kernel[axis] - 1) * step < left) return {0, w.kernel[axis]};  // without divisions
  const int64_t end = left <= 0 ? 0 : std::min(w.kernel[axis], (left + step - 1) / step);
  return {std::min(begin, std::max<int64_t>(end, 0)), end};
}

/// A position among output pixels, outermost axis the batch.
struct Pixel {
  int64_t n, at[3];
};
inline Pixel pixel_of(const int64_t (&extents)[3], int64_t index) {
  Pixel p;
  p.at[2] = index % extents[2];
  index /= extents[2];
  p.at[1] = index % extents[1];
  index /= extents[1];
  p.at[0] = index % extents[0];
  p.n = index / extents[0];
  return p;
}

}  // namespace kiln::cpu
