#include "backend/cpu/kernels/pool/row.h"

#include <algorithm>
#include <cmath>
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

constexpr float kLowest = -std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();

/// The greatest one, or NaN if any is NaN.
struct Max {
  static constexpr float kStart = kLowest;
  static constexpr bool kRegroups = true;
  /// x86's maximum gives its second operand where either is NaN: a NaN so far stays, and that of x is put there aside
  /// of the chain from maximum to maximum.
  static HWY_INLINE V join(V so_far, V x) { return hn::IfThenElse(hn::IsNaN(x), x, hn::Max(x, so_far)); }
  static HWY_INLINE float join_lanes(V v) {
    const D d;
    return hn::AllFalse(d, hn::IsNaN(v)) ? hn::GetLane(hn::MaxOfLanes(d, v)) : kNaN;
  }
  static float join(float so_far, float x) { return x > so_far || std::isnan(x) ? x : so_far; }
};
struct Add {
  static constexpr float kStart = 0;
  static constexpr bool kRegroups = false;  // which changes a sum's bits
  static HWY_INLINE V join(V so_far, V x) { return hn::Add(so_far, x); }
  static HWY_INLINE float join_lanes(V v) { return hn::GetLane(hn::SumOfLanes(D(), v)); }
  static float join(float so_far, float x) { return so_far + x; }
};

/// 1 where there is nothing to divide by.
float scale_of(const PoolRow& row, int64_t x) {
  if (!row.last || row.shape.kind == PoolKind::kMax) return 1;
  return static_cast<float>(1 / (row.lines_counted * static_cast<double>(taps_counted(row.shape, 2, x))));
}

/// Channels [c, c + count) of the one column `x` of all lines; kVecs whole vectors or a part of one.
template <class Op, int kVecs>
HWY_INLINE void column(const PoolRow& row, int64_t x, int64_t c, int count, float* to) {
  V so_far[kVecs];
#pragma GCC unroll 8
  for (int v = 0; v < kVecs; ++v) so_far[v] = hn::Set(D(), Op::kStart);
  for (int64_t line = 0; line < row.num_lines; ++line)
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v)
      so_far[v] = Op::join(so_far[v], load_some(row.lines[line] + x * row.in_ld + c + v * kLanes, count));
#pragma GCC unroll 8
  for (int v = 0; v < kVecs; ++v) store_some(so_far[v], to + v * kLanes, count);
}

template <class Op>
void whole_column(const PoolRow& row, int64_t x, float* to) {
  int64_t c = 0;
  for (; c + 4 * kLanes <= row.channels; c += 4 * kLanes) column<Op, 4>(row, x, c, kLanes, to + c);
  for (; c < row.channels; c += kLanes)
    column<Op, 1>(row, x, c, static_cast<int>(std::min<int64_t>(kLanes, row.channels - c)), to + c);
}

/// The pixel's channels from c on: kVecs whole vectors, or `count` channels of one.
template <class Op, int kVecs>
HWY_INLINE void pixel(const PoolRow& row, int64_t x, TapRange taps, float scale, int64_t c, int count) {
  const D d;
  float* out = row.out + x * row.out_ld + c;
  V so_far[kVecs];
#pragma GCC unroll 8
  for (int v = 0; v < kVecs; ++v) so_far[v] = row.first ? hn::Set(d, Op::kStart) : load_some(out + v * kLanes, count);
  const Window& w = row.shape.window;
  const ptrdiff_t step = w.dilation[2] * row.in_ld;
  const ptrdiff_t from = (w.start(2, x) + taps.begin * w.dilation[2] - row.origin) * row.in_ld + c;
  for (int64_t line = 0; line < row.num_lines; ++line) {
    const float* in = row.lines[line] + from;
    for (int64_t k = taps.begin; k < taps.end; ++k, in += step)
#pragma GCC unroll 8
      for (int v = 0; v < kVecs; ++v) so_far[v] = Op::join(so_far[v], load_some(in + v * kLanes, count));
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVecs; ++v) store_some(hn::Mul(so_far[v], hn::Set(d, scale)), out + v * kLanes, count);
}

/// Output pixels [x0, x1).
template <class Op>
void some_pixels(const PoolRow& row, int64_t x0, int64_t x1) {
  for (int64_t x = x0; x < x1; ++x) {
    const TapRange taps = taps_inside(row.shape.window, 2, x);
    const float scale = scale_of(row, x);
    int64_t c = 0;
    for (; c + 8 * kLanes <= row.channels; c += 8 * kLanes) pixel<Op, 8>(row, x, taps, scale, c, kLanes);
    for (; c + 4 * kLanes <= row.channels; c += 4 * kLanes) pixel<Op, 4>(row, x, taps, scale, c, kLanes);
    for (; c + kLanes <= row.channels; c += kLanes) pixel<Op, 1>(row, x, taps, scale, c, kLanes);
    if (c < row.channels) pixel<Op, 1>(row, x, taps, scale, c, static_cast<int>(row.channels - c));
  }
}

constexpr int64_t kColumns = 8192;  // floats, which leave room in the first cache

/// Whether it saves a quarter of the work to join each column's lines once, for all windows that have the column.
bool shares_columns(const PoolRow& row, int64_t outputs, int64_t columns) {
  const int64_t taps = row.shape.window.kernel[2];
  return 4 * (row.num_lines * columns + outputs * (taps + 1)) <= 3 * row.num_lines * outputs * taps;
}

/// Pixels by the columns that their windows share, as many at a time as there is room for; false where that is no gain.
template <class Op>
HWY_NOINLINE bool pixels_by_columns(const PoolRow& row) {
  const Window& w = row.shape.window;
  const int64_t width = w.out[2], span = (w.kernel[2] - 1) * w.dilation[2] + 1, room = kColumns / row.channels;
  const int64_t outputs = std::min(width, (room - span) / w.stride[2] + 1);
  if (room < span || !shares_columns(row, outputs, (outputs - 1) * w.stride[2] + span)) return false;
  HWY_ALIGN float columns[kColumns];
  PoolRow joined = row;
  joined.lines[0] = columns;
  joined.num_lines = 1;
  joined.in_ld = row.channels;
  for (int64_t x = 0; x < width; x += outputs) {
    const int64_t end = std::min(width, x + outputs);
    joined.origin = std::clamp<int64_t>(w.start(2, x), 0, w.in[2]);
    const int64_t last = std::clamp(w.start(2, end - 1) + span, joined.origin, w.in[2]);
    for (int64_t at = joined.origin; at < last; ++at)
      whole_column<Op>(row, at, columns + (at - joined.origin) * row.channels);
    some_pixels<Op>(joined, x, end);
  }
  return true;
}

template <class Op>
void pixels(const PoolRow& row) {
  const Window& w = row.shape.window;
  if (Op::kRegroups && shares_columns(row, 1, w.stride[2]) && pixels_by_columns<Op>(row)) return;
  some_pixels<Op>(row, 0, w.out[2]);
}

/// line[from] and its successors; kStart for those outside of [0, end).
template <class Op>
HWY_INLINE V part_of_line(const float* line, int64_t from, int64_t end) {
  const D d;
  if (from >= 0 && from + kLanes <= end) return hn::LoadU(d, line + from);
  const auto lanes_before = [&](int64_t at) {
    return hn::FirstN(d, static_cast<size_t>(std::clamp<int64_t>(at - from, 0, kLanes)));
  };
  const auto inside = hn::AndNot(lanes_before(0), lanes_before(end));
  return hn::IfThenElse(inside, hn::MaskedLoad(inside, d, line + from), hn::Set(d, Op::kStart));
}

/// line[from + i * stride] for each lane i; kStart for those outside of [0, end).
template <class Op>
HWY_INLINE V strided_part(const float* line, int64_t from, int64_t stride, int64_t end) {
  const D d;
  if (stride == 1) return part_of_line<Op>(line, from, end);
  if (stride == 2 && from >= 0 && from + 2 * kLanes <= end) {
    V even, odd;
    hn::LoadInterleaved2(d, line + from, even, odd);
    return even;
  }
  if (stride == 2)
    return hn::ConcatEven(d, part_of_line<Op>(line, from + kLanes, end), part_of_line<Op>(line, from, end));
  HWY_ALIGN float lanes[kLanes];
  for (int64_t i = 0; i < kLanes; ++i, from += stride) lanes[i] = from >= 0 && from < end ? line[from] : Op::kStart;
  return hn::Load(d, lanes);
}

/// The one output of a line whose window has no holes, as global pooling has it.
template <class Op>
void plane_pixel(const PoolRow& row) {
  const D d;
  const Window& w = row.shape.window;
  const TapRange taps = taps_inside(w, 2, 0);
  const int64_t from = w.start(2, 0) + taps.begin, size = taps.end - taps.begin;
  V so_far[2] = {hn::Set(d, Op::kStart), hn::Set(d, Op::kStart)};
  int at = 0;
  for (int64_t line = 0; line < row.num_lines; ++line)
    for (int64_t i = 0; i < size; i += kLanes, at ^= 1)
      so_far[at] = Op::join(so_far[at], part_of_line<Op>(row.lines[line] + from, i, size));
  const float result = Op::join_lanes(Op::join(so_far[0], so_far[1]));
  row.out[0] = row.first ? result : Op::join(row.out[0], result);
}

/// kVecs vectors of outputs from x on; of the last one the first `count`.
template <class Op, int kVecs>
void plane_pixels(const PoolRow& row, int64_t x, int count) {
  const Window& w = row.shape.window;
  float* out = row.out + x;
  const auto lanes = [&](int v) { return v + 1 < kVecs ? kLanes : count; };
  V so_far[kVecs];
#pragma GCC unroll 2
  for (int v = 0; v < kVecs; ++v)
    so_far[v] = row.first ? hn::Set(D(), Op::kStart) : load_some(out + v * kLanes, lanes(v));
  for (int64_t line = 0; line < row.num_lines; ++line)
    for (int64_t k = 0; k < w.kernel[2]; ++k)
#pragma GCC unroll 2
      for (int v = 0; v < kVecs; ++v) {
        const int64_t from = w.start(2, x + v * kLanes) + k * w.dilation[2];
        so_far[v] = Op::join(so_far[v], strided_part<Op>(row.lines[line], from, w.stride[2], w.in[2]));
      }
#pragma GCC unroll 2
  for (int v = 0; v < kVecs; ++v) store_some(so_far[v], out + v * kLanes, lanes(v));
}

template <class Op>
void plane_pixels(const PoolRow& row) {
  const int64_t width = row.shape.window.out[2];
  int64_t x = 0;
  for (; x + kLanes < width; x += 2 * kLanes)
    plane_pixels<Op, 2>(row, x, static_cast<int>(std::min<int64_t>(kLanes, width - x - kLanes)));
  if (x < width) plane_pixels<Op, 1>(row, x, static_cast<int>(width - x));
}

/// The same by the columns that windows share; false where that is no gain.
template <class Op>
HWY_NOINLINE bool plane_by_columns(const PoolRow& row) {
  const int64_t in = row.shape.window.in[2];
  if (in > kColumns || !shares_columns(row, row.shape.window.out[2], in)) return false;
  HWY_ALIGN float columns[kColumns];
  for (int64_t at = 0; at < in; at += kLanes)
    column<Op, 1>(row, at, 0, static_cast<int>(std::min<int64_t>(kLanes, in - at)), columns + at);
  PoolRow joined = row;
  joined.lines[0] = columns;
  joined.num_lines = 1;
  plane_pixels<Op>(joined);
  return true;
}

template <class Op>
void plane_row(const PoolRow& row) {
  const Window& w = row.shape.window;
  if (w.out[2] == 1 && w.dilation[2] == 1)
    plane_pixel<Op>(row);
  else if (!Op::kRegroups || !shares_columns(row, 1, w.stride[2]) || !plane_by_columns<Op>(row))
    plane_pixels<Op>(row);
  if (row.last && row.shape.kind != PoolKind::kMax)
    for (int64_t x = 0; x < w.out[2]; ++x) row.out[x] *= scale_of(row, x);
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
