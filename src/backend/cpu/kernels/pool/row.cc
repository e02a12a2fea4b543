#include "backend/cpu/kernels/pool/row.h"

#include <algorithm>
#include <limits>

#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/pool/row.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

struct Max {
  static constexpr float kStart = kLowest;
  static HWY_INLINE V join(V so_far, V x) { return hn::Max(x, so_far); }  // in this order NaN loses
  static HWY_INLINE V join_lanes(V v) { return hn::MaxOfLanes(D(), v); }
  static float join(float so_far, float x) { return x > so_far ? x : so_far; }
};
struct Add {
  static constexpr float kStart = 0;
  static HWY_INLINE V join(V so_far, V x) { return hn::Add(so_far, x); }
  static HWY_INLINE V join_lanes(V v) { return hn::SumOfLanes(D(), v); }
  static float join(float so_far, float x) { return so_far + x; }
};

/// 1 where there is nothing to divide by.
float scale_of(const PoolRow& row, int64_t x) {
  if (!row.last || row.shape.kind == PoolKind::kMax) return 1;
  return static_cast<float>(1 / (row.lines_counted * static_cast<double>(taps_counted(row.shape, 2, x))));
}

template <class Op, int kVecs>
void pixel(const PoolRow& row, int64_t x, TapRange taps, float scale, int64_t c, int count) {
  const D d;
  float* out = row.out + x * row.out_ld + c;
  V so_far[kVecs];
#pragma GCC unroll 4
  for (int v = 0; v < kVecs; ++v) so_far[v] = row.first ? hn::Set(d, Op::kStart) : load_some(out + v * kLanes, count);
  const Window& w = row.shape.window;
  for (int64_t line = 0; line < row.num_lines && taps.begin < taps.end; ++line) {
    const float* in = row.lines[line] + (w.start(2, x) + taps.begin * w.dilation[2]) * row.in_ld + c;
    for (int64_t k = taps.begin; k < taps.end; ++k, in += w.dilation[2] * row.in_ld)
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) so_far[v] = Op::join(so_far[v], load_some(in + v * kLanes, count));
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVecs; ++v) store_some(hn::Mul(so_far[v], hn::Set(d, scale)), out + v * kLanes, count);
}

template <class Op>
void pixels(const PoolRow& row) {
  for (int64_t x = 0; x < row.shape.window.out[2]; ++x) {
    const TapRange taps = taps_inside(row.shape.window, 2, x);
    const float scale = scale_of(row, x);
    int64_t c = 0;
    for (; c + 4 * kLanes <= row.channels; c += 4 * kLanes) pixel<Op, 4>(row, x, taps, scale, c, kLanes);
    for (; c + kLanes <= row.channels; c += kLanes) pixel<Op, 1>(row, x, taps, scale, c, kLanes);
    if (c < row.channels) pixel<Op, 1>(row, x, taps, scale, c, static_cast<int>(row.channels - c));
  }
}

/// out[x] joins line[x * stride + offset] for x in [x0, x1); `end` is the line's length.
template <class Op>
void join_shifted(float* out, const float* line, int64_t stride, int64_t offset, int64_t x0, int64_t x1, int64_t end) {
  const D d;
  int64_t x = x0;
  if (stride == 1) {
    for (; x + kLanes <= x1; x += kLanes)
      hn::StoreU(Op::join(hn::LoadU(d, out + x), hn::LoadU(d, line + x + offset)), d, out + x);
  } else if (stride == 2) {
    for (; x + kLanes <= x1 && 2 * (x + kLanes) + offset <= end; x += kLanes) {
      V even, odd;
      hn::LoadInterleaved2(d, line + 2 * x + offset, even, odd);
      hn::StoreU(Op::join(hn::LoadU(d, out + x), even), d, out + x);
    }
  }
  for (; x < x1; ++x) out[x] = Op::join(out[x], line[x * stride + offset]);
}

/// A whole stretch of a line to one output, as global pooling has it.
template <class Op>
float join_stretch(float so_far, const float* line, int64_t size) {
  const D d;
  int64_t i = 0;
  if (size >= kLanes) {
    V all = hn::LoadU(d, line);
    for (i = kLanes; i + kLanes <= size; i += kLanes) all = Op::join(all, hn::LoadU(d, line + i));
    so_far = Op::join(so_far, hn::GetLane(Op::join_lanes(all)));
  }
  for (; i < size; ++i) so_far = Op::join(so_far, line[i]);
  return so_far;
}

template <class Op>
void plane_row(const PoolRow& row) {
  const Window& w = row.shape.window;
  const int64_t width = w.out[2];
  if (row.first) std::fill_n(row.out, width, Op::kStart);
  for (int64_t line = 0; line < row.num_lines; ++line) {
    if (width == 1 && w.dilation[2] == 1) {
      const TapRange taps = taps_inside(w, 2, 0);
      row.out[0] = join_stretch<Op>(row.out[0], row.lines[line] + w.start(2, 0) + taps.begin, taps.end - taps.begin);
      continue;
    }
    for (int64_t k = 0; k < w.kernel[2]; ++k) {
      // Outputs x with 0 <= x * stride + offset < in.
      const int64_t offset = k * w.dilation[2] - w.pad[2];
      const int64_t x0 = offset >= 0 ? 0 : (-offset + w.stride[2] - 1) / w.stride[2];
      const int64_t room = w.in[2] - 1 - offset;
      const int64_t x1 = room < 0 ? 0 : std::min(width, room / w.stride[2] + 1);
      join_shifted<Op>(row.out, row.lines[line], w.stride[2], offset, x0, x1, w.in[2]);
    }
  }
  if (row.last && row.shape.kind != PoolKind::kMax)
    for (int64_t x = 0; x < width; ++x) row.out[x] *= scale_of(row, x);
}

void run_pixels(const PoolRow& row) { row.shape.kind == PoolKind::kMax ? pixels<Max>(row) : pixels<Add>(row); }
void run_plane(const PoolRow& row) { row.shape.kind == PoolKind::kMax ? plane_row<Max>(row) : plane_row<Add>(row); }

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

void run_pool_row(const PoolRow& row) { KILN_DISPATCH(run_pixels)(row); }
void run_pool_plane_row(const PoolRow& row) { KILN_DISPATCH(run_plane)(row); }

int64_t taps_counted(const PoolShape& shape, int axis, int64_t o) {
  const Window& w = shape.window;
  if (shape.kind == PoolKind::kAverageValid) {
    const TapRange taps = taps_inside(w, axis, o);
    return taps.end - taps.begin;
  }
  // With padding a window's start always counts; its end is cut off after pad_after.
  const int64_t left = w.in[axis] + shape.pad_after[axis] - w.start(axis, o);
  return left <= 0 ? 0 : std::min(w.kernel[axis], (left + w.dilation[axis] - 1) / w.dilation[axis]);
}

}  // namespace kiln::cpu
#endif
