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

/// B^T d for six values `step` apart.
HWY_INLINE void input_1d(const V* d, int step, V* out) {
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

/// A^T m for six values.
HWY_INLINE void output_1d(const V* m, V* out) {
  const D tag;
  const V two = hn::Set(tag, 2.0f), four = hn::Set(tag, 4.0f), eight = hn::Set(tag, 8.0f);
  const V sum = hn::Add(m[1], m[2]), difference = hn::Sub(m[1], m[2]);
  const V far_sum = hn::Add(m[3], m[4]), far_difference = hn::Sub(m[3], m[4]);
  out[0] = hn::Add(hn::Add(m[0], sum), far_sum);
  out[1] = hn::MulAdd(two, far_difference, difference);
  out[2] = hn::MulAdd(four, far_sum, sum);
  out[3] = hn::Add(hn::MulAdd(eight, far_difference, difference), m[5]);
}

/// Pointers to the tile's 36 pixels, [y][x]; those outside point to zeros.
void pixels_of_tile(const WinogradInput& at, int64_t tile, const float** pixels) {
  const Window& w = at.tiles.window;
  const int64_t image = tile / at.tiles.of_image(), index = tile % at.tiles.of_image();
  const int64_t y0 = index / at.tiles.across * kWinogradOut - w.pad[1];
  const int64_t x0 = index % at.tiles.across * kWinogradOut - w.pad[2];
  for (int64_t y = y0; y < y0 + kWinogradIn; ++y)
    for (int64_t x = x0; x < x0 + kWinogradIn; ++x) {
      const bool inside = y >= 0 && y < w.in[1] && x >= 0 && x < w.in[2];
      *pixels++ = inside ? at.in + ((image * w.in[1] + y) * w.in[2] + x) * at.in_ld : at.zeros;
    }
}

HWY_INLINE void input_vector(const float* const* pixels, int64_t c, int count, float* u, ptrdiff_t point_stride) {
  V v[kWinogradPoints];  // [x][y]
#pragma GCC unroll 6
  for (int x = 0; x < 6; ++x) {
    V column[6];
#pragma GCC unroll 6
    for (int y = 0; y < 6; ++y) column[y] = load_some(pixels[y * 6 + x] + c, count);
    input_1d(column, 1, v + 6 * x);
  }
#pragma GCC unroll 6
  for (int y = 0; y < 6; ++y) {
    V row[6];
    input_1d(v + y, 6, row);
#pragma GCC unroll 6
    for (int x = 0; x < 6; ++x) hn::StoreU(row[x], D(), u + (y * 6 + x) * point_stride + c);
  }
}

void input_tiles(const WinogradInput& at, int64_t tile0, int64_t count, int64_t slot0) {
  const float* pixels[kWinogradPoints];
  for (int64_t i = 0; i < count; ++i) {
    pixels_of_tile(at, tile0 + i, pixels);
    float* u = at.u + (slot0 + i) * at.u_ld;
    int64_t c = 0;
    for (; c + kLanes <= at.ic; c += kLanes) input_vector(pixels, c, kLanes, u, at.point_stride);
    if (c < at.ic) input_vector(pixels, c, static_cast<int>(at.ic - c), u, at.point_stride);
  }
}

/// The place of a tile's outputs: its corner pixel, and how much of the tile lies within the result.
struct Corner {
  int64_t pixel, rows, cols;
};
Corner corner_of_tile(const WinogradTiles& tiles, int64_t tile) {
  const Window& w = tiles.window;
  const int64_t image = tile / tiles.of_image(), index = tile % tiles.of_image();
  const int64_t y = index / tiles.across * kWinogradOut, x = index % tiles.across * kWinogradOut;
  return {(image * w.out[1] + y) * w.out[2] + x, std::min(kWinogradOut, w.out[1] - y),
          std::min(kWinogradOut, w.out[2] - x)};
}

HWY_INLINE void output_vector(const WinogradOutput& at, const Corner& corner, const float* m, int64_t c, int count) {
  const D tag;
  const Epilogue& e = at.epilogue;
  const V bias = e.bias ? load_some(e.bias + c, count) : hn::Zero(tag);
  const V lo = hn::Set(tag, e.lo), hi = hn::Set(tag, e.hi);
  V v[4][6];  // [y][x]
#pragma GCC unroll 6
  for (int x = 0; x < 6; ++x) {
    V column[6], sums[4];
#pragma GCC unroll 6
    for (int y = 0; y < 6; ++y) column[y] = hn::LoadU(tag, m + (y * 6 + x) * at.point_stride + c);
    output_1d(column, sums);
#pragma GCC unroll 4
    for (int y = 0; y < 4; ++y) v[y][x] = sums[y];
  }
#pragma GCC unroll 4
  for (int y = 0; y < 4; ++y) {
    if (y >= corner.rows) break;
    V sums[4];
    output_1d(v[y], sums);
    const int64_t pixel = corner.pixel + y * at.tiles.window.out[2];
#pragma GCC unroll 4
    for (int x = 0; x < 4; ++x) {
      if (x >= corner.cols) break;
      V sum = hn::Add(sums[x], bias);
      if (e.residual) sum = hn::Add(sum, load_some(e.residual + (pixel + x) * e.ldr + c, count));
      store_some(hn::Min(hi, hn::Max(lo, sum)), at.out + (pixel + x) * at.out_ld + c, count);
    }
  }
}

void output_tiles(const WinogradOutput& at, int64_t tile0, int64_t count, int64_t slot0) {
  for (int64_t i = 0; i < count; ++i) {
    const Corner corner = corner_of_tile(at.tiles, tile0 + i);
    const float* m = at.m + (slot0 + i) * at.m_ld;
    int64_t c = 0;
    for (; c + kLanes <= at.oc; c += kLanes) output_vector(at, corner, m, c, kLanes);
    if (c < at.oc) output_vector(at, corner, m, c, static_cast<int>(at.oc - c));
  }
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

void transform_input(const WinogradInput& at, int64_t tile0, int64_t count, int64_t slot0) {
  KILN_DISPATCH(input_tiles)(at, tile0, count, slot0);
}
void transform_output(const WinogradOutput& at, int64_t tile0, int64_t count, int64_t slot0) {
  KILN_DISPATCH(output_tiles)(at, tile0, count, slot0);
}

}  // namespace kiln::cpu
#endif
