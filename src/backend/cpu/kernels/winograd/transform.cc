#include "backend/cpu/kernels/winograd/transform.h"

#include <algorithm>

#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/winograd/transform.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

/// B^T d for six values `step` apart: the points 0, 1, -1, 2, -2 and infinity.
HWY_INLINE void input_6(const V* d, int step, V* out) {
  const D tag;
  const V two = hn::Set(tag, 2.0f), four = hn::Set(tag, 4.0f), five = hn::Set(tag, 5.0f);
  const V d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d5 = d[5 * step];
  out[0] = hn::MulAdd(four, d0, hn::NegMulAdd(five, d2, d4));
  const V even = hn::NegMulAdd(four, d2, d4), odd = hn::NegMulAdd(four, d1, d3);
  out[1] = hn::Add(even, odd);
  out[2] = hn::Sub(even, odd);
  const V far_even = hn::Sub(d4, d2), far_odd = hn::Mul(two, hn::Sub(d3, d1));
  out[3] = hn::Add(far_even, far_odd);
  out[4] = hn::Sub(far_even, far_odd);
  out[5] = hn::MulAdd(four, d1, hn::NegMulAdd(five, d3, d5));
}

/// B^T d for eight values: the points 0, 1, -1, 2, -2, 1/2, -1/2 and infinity.
HWY_INLINE void input_8(const V* d, V* out) {
  const auto times = [](float factor, V x) HWY_ATTR { return hn::Mul(hn::Set(D(), factor), x); };
  const auto plus = [](V sum, float factor, V x) HWY_ATTR { return hn::MulAdd(hn::Set(D(), factor), x, sum); };
  const auto put = [out](int i, V even, V odd) HWY_ATTR {
    out[i] = hn::Add(even, odd);
    out[i + 1] = hn::Sub(even, odd);
  };
  out[0] = plus(hn::Sub(d[0], d[6]), 5.25f, hn::Sub(d[4], d[2]));
  put(1, plus(hn::Add(d[2], d[6]), -4.25f, d[4]), plus(hn::Add(d[1], d[5]), -4.25f, d[3]));
  put(3, plus(plus(d[6], 0.25f, d[2]), -1.25f, d[4]), plus(plus(times(0.5f, d[1]), -2.5f, d[3]), 2, d[5]));
  put(5, plus(plus(d[6], 4, d[2]), -5, d[4]), plus(plus(times(2, d[1]), -2.5f, d[3]), 0.5f, d[5]));
  out[7] = plus(hn::Sub(d[7], d[1]), 5.25f, hn::Sub(d[3], d[5]));
}

/// A^T m without the point infinity, for the first five points.
HWY_INLINE void output_5(const V* m, V* out) {
  const D tag;
  const V two = hn::Set(tag, 2.0f), four = hn::Set(tag, 4.0f), eight = hn::Set(tag, 8.0f);
  const V sum = hn::Add(m[1], m[2]), difference = hn::Sub(m[1], m[2]);
  const V far_sum = hn::Add(m[3], m[4]), far_difference = hn::Sub(m[3], m[4]);
  out[0] = hn::Add(hn::Add(m[0], sum), far_sum);
  out[1] = hn::MulAdd(two, far_difference, difference);
  out[2] = hn::MulAdd(four, far_sum, sum);
  out[3] = hn::MulAdd(eight, far_difference, difference);
}
/// A^T m for six values.
HWY_INLINE void output_6(const V* m, V* out) {
  output_5(m, out);
  out[3] = hn::Add(out[3], m[5]);
}
/// A^T m for eight values.
HWY_INLINE void output_8(const V* m, V* out) {
  const D tag;
  output_5(m, out);
  const V sum = hn::Add(m[5], m[6]), difference = hn::Sub(m[5], m[6]);
  out[0] = hn::Add(out[0], sum);
  out[1] = hn::MulAdd(hn::Set(tag, 0.5f), difference, out[1]);
  out[2] = hn::MulAdd(hn::Set(tag, 0.25f), sum, out[2]);
  out[3] = hn::Add(hn::MulAdd(hn::Set(tag, 0.125f), difference, out[3]), m[7]);
}

/// Pointers to the tile's pixels, [y][x]; those outside point to zeros.
void pixels_of_tile(const WinogradInput& at, int64_t tile, const float** pixels) {
  const Window& w = at.tiles.window;
  const int64_t image = tile / at.tiles.of_image(), index = tile % at.tiles.of_image();
  const int64_t y0 = index / at.tiles.across * at.tiles.out_rows - w.pad[1];
  const int64_t x0 = index % at.tiles.across * at.tiles.out_cols - w.pad[2];
  for (int64_t y = y0; y < y0 + at.tiles.in_rows(); ++y)
    for (int64_t x = x0; x < x0 + at.tiles.in_cols(); ++x) {
      const bool inside = y >= 0 && y < w.in[1] && x >= 0 && x < w.in[2];
      *pixels++ = inside ? at.in + ((image * w.in[1] + y) * w.in[2] + x) * at.in_ld : at.zeros;
    }
}

/// How the tiles of a kernel of `kPoints` points are transformed, a vector of channels at a time.
template <int kPoints>
struct Tile {  // one axis
  static HWY_INLINE void input(const float* const* pixels, int64_t c, int count, float* u, ptrdiff_t point_stride) {
    V d[kPoints], v[kPoints];
#pragma GCC unroll 8
    for (int i = 0; i < kPoints; ++i) d[i] = load_some(pixels[i] + c, count);
    if constexpr (kPoints == 6) input_6(d, 1, v);
    if constexpr (kPoints == 8) input_8(d, v);
#pragma GCC unroll 8
    for (int i = 0; i < kPoints; ++i) hn::StoreU(v[i], D(), u + i * point_stride + c);
  }

  /// `put` takes the sum of each row and column that the corner has.
  template <class Put>
  static HWY_INLINE void output(const float* m, ptrdiff_t point_stride, int64_t rows, int64_t cols, Put put) {
    V v[kPoints], sums[4];
#pragma GCC unroll 8
    for (int i = 0; i < kPoints; ++i) v[i] = hn::LoadU(D(), m + i * point_stride);
    if constexpr (kPoints == 6) output_6(v, sums);
    if constexpr (kPoints == 8) output_8(v, sums);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      if (i >= rows * cols) break;
      cols > 1 ? put(0, i, sums[i]) : put(i, 0, sums[i]);
    }
  }
};

template <>
struct Tile<36> {  // two axes
  static HWY_INLINE void input(const float* const* pixels, int64_t c, int count, float* u, ptrdiff_t point_stride) {
    V v[36];  // [x][y]
#pragma GCC unroll 6
    for (int x = 0; x < 6; ++x) {
      V column[6];
#pragma GCC unroll 6
      for (int y = 0; y < 6; ++y) column[y] = load_some(pixels[y * 6 + x] + c, count);
      input_6(column, 1, v + 6 * x);
    }
#pragma GCC unroll 6
    for (int y = 0; y < 6; ++y) {
      V row[6];
      input_6(v + y, 6, row);
#pragma GCC unroll 6
      for (int x = 0; x < 6; ++x) hn::StoreU(row[x], D(), u + (y * 6 + x) * point_stride + c);
    }
  }

  template <class Put>
  static HWY_INLINE void output(const float* m, ptrdiff_t point_stride, int64_t rows, int64_t cols, Put put) {
    V v[4][6];  // [y][x]
#pragma GCC unroll 6
    for (int x = 0; x < 6; ++x) {
      V column[6], sums[4];
#pragma GCC unroll 6
      for (int y = 0; y < 6; ++y) column[y] = hn::LoadU(D(), m + (y * 6 + x) * point_stride);
      output_6(column, sums);
#pragma GCC unroll 4
      for (int y = 0; y < 4; ++y) v[y][x] = sums[y];
    }
#pragma GCC unroll 4
    for (int y = 0; y < 4; ++y) {
      if (y >= rows) break;
      V sums[4];
      output_6(v[y], sums);
#pragma GCC unroll 4
      for (int x = 0; x < 4; ++x) {
        if (x >= cols) break;
        put(y, x, sums[x]);
      }
    }
  }
};

template <int kPoints>
void input_tiles(const WinogradInput& at, int64_t tile0, int64_t count, int64_t slot0) {
  const float* pixels[kPoints];
  for (int64_t i = 0; i < count; ++i) {
    pixels_of_tile(at, tile0 + i, pixels);
    float* u = at.u + (slot0 + i) * at.u_ld;
    int64_t c = 0;
    for (; c + kLanes <= at.ic; c += kLanes) Tile<kPoints>::input(pixels, c, kLanes, u, at.point_stride);
    if (c < at.ic) Tile<kPoints>::input(pixels, c, static_cast<int>(at.ic - c), u, at.point_stride);
  }
}

/// The place of a tile's outputs: its corner pixel, and how much of the tile lies within the result.
struct Corner {
  int64_t pixel, rows, cols;
};
Corner corner_of_tile(const WinogradTiles& tiles, int64_t tile) {
  const Window& w = tiles.window;
  const int64_t image = tile / tiles.of_image(), index = tile % tiles.of_image();
  const int64_t y = index / tiles.across * tiles.out_rows, x = index % tiles.across * tiles.out_cols;
  return {(image * w.out[1] + y) * w.out[2] + x, std::min(tiles.out_rows, w.out[1] - y),
          std::min(tiles.out_cols, w.out[2] - x)};
}

template <int kPoints>
HWY_INLINE void output_vector(const WinogradOutput& at, const Corner& corner, const float* m, int64_t c, int count) {
  const D tag;
  const Epilogue& e = at.epilogue;
  const V bias = e.bias ? load_some(e.bias + c, count) : hn::Zero(tag);
  const V lo = hn::Set(tag, e.lo), hi = hn::Set(tag, e.hi);
  const int64_t out_cols = at.tiles.window.out[2];
  const auto put = [&](int64_t y, int64_t x, V sum) HWY_ATTR {
    const int64_t pixel = corner.pixel + y * out_cols + x;
    sum = hn::Add(sum, bias);
    if (e.residual) sum = hn::Add(sum, load_some(e.residual + pixel * e.ldr + c, count));
    store_some(hn::Min(hi, hn::Max(lo, sum)), at.out + pixel * at.out_ld + c, count);
  };
  Tile<kPoints>::output(m + c, at.point_stride, corner.rows, corner.cols, put);
}

template <int kPoints>
void output_tiles(const WinogradOutput& at, int64_t tile0, int64_t count, int64_t slot0) {
  for (int64_t i = 0; i < count; ++i) {
    const Corner corner = corner_of_tile(at.tiles, tile0 + i);
    const float* m = at.m + (slot0 + i) * at.m_ld;
    int64_t c = 0;
    for (; c + kLanes <= at.oc; c += kLanes) output_vector<kPoints>(at, corner, m, c, kLanes);
    if (c < at.oc) output_vector<kPoints>(at, corner, m, c, static_cast<int>(at.oc - c));
  }
}

void any_input(const WinogradInput& at, int64_t tile0, int64_t count, int64_t slot0) {
  const int64_t points = at.tiles.points();
  (points == 6 ? input_tiles<6> : points == 8 ? input_tiles<8> : input_tiles<36>)(at, tile0, count, slot0);
}
void any_output(const WinogradOutput& at, int64_t tile0, int64_t count, int64_t slot0) {
  const int64_t points = at.tiles.points();
  (points == 6 ? output_tiles<6> : points == 8 ? output_tiles<8> : output_tiles<36>)(at, tile0, count, slot0);
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

void transform_input(const WinogradInput& at, int64_t tile0, int64_t count, int64_t slot0) {
  KILN_DISPATCH(any_input)(at, tile0, count, slot0);
}
void transform_output(const WinogradOutput& at, int64_t tile0, int64_t count, int64_t slot0) {
  KILN_DISPATCH(any_output)(at, tile0, count, slot0);
}

}  // namespace kiln::cpu
#endif
