#include "backend/cpu/kernels/depthwise/row.h"

#include <algorithm>

#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/depthwise/row.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

/// The start of the sums of output pixel `x`, channels [c, c + count).
HWY_INLINE V start_of(const DepthwiseRow& row, int64_t x, int64_t c, int count) {
  if (row.add_to_out) return load_some(row.out + x * row.out_ld + c, count);
  V start = row.epilogue.bias ? load_some(row.epilogue.bias + c, count) : hn::Zero(D());
  if (row.residual) start = hn::Add(start, load_some(row.residual + x * row.epilogue.ldr + c, count));
  return start;
}
HWY_INLINE void finish(const DepthwiseRow& row, V sum, int64_t x, int64_t c, int count) {
  const D d;
  if (row.last) sum = hn::Min(hn::Set(d, row.epilogue.hi), hn::Max(hn::Set(d, row.epilogue.lo), sum));
  store_some(sum, row.out + x * row.out_ld + c, count);
}

/// One pixel, any kernel, its window cut at the edges; kVecs vectors of channels hide each other's latency.
template <int kVecs>
void any_pixel(const DepthwiseRow& row, int64_t x, TapRange taps, int64_t c, int count) {
  const Window& w = row.window;
  V sum[kVecs];
#pragma GCC unroll 4
  for (int v = 0; v < kVecs; ++v) sum[v] = start_of(row, x, c + v * kLanes, count);
  const int64_t first = w.start(2, x) + taps.begin * w.dilation[2];
  for (int64_t line = 0; line < row.num_lines; ++line) {
    const float* in = row.lines[line] + first * row.in_ld + c;
    const float* weights = row.weights[line] + taps.begin * row.weights_ld + c;
    for (int64_t k = taps.begin; k < taps.end; ++k) {
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v)
        sum[v] = hn::MulAdd(load_some(in + v * kLanes, count), load_some(weights + v * kLanes, count), sum[v]);
      in += w.dilation[2] * row.in_ld;
      weights += row.weights_ld;
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVecs; ++v) finish(row, sum[v], x, c + v * kLanes, count);
}

/// Output pixels [x0, x1), channels from `c0` on.
void any_pixels(const DepthwiseRow& row, int64_t x0, int64_t x1, int64_t c0) {
  for (int64_t x = x0; x < x1; ++x) {
    const TapRange taps = taps_inside(row.window, 2, x);
    int64_t c = c0;
    for (; c + 4 * kLanes <= row.channels; c += 4 * kLanes) any_pixel<4>(row, x, taps, c, kLanes);
    for (; c + kLanes <= row.channels; c += kLanes) any_pixel<1>(row, x, taps, c, kLanes);
    if (c < row.channels) any_pixel<1>(row, x, taps, c, static_cast<int>(row.channels - c));
  }
}

enum class Where : uint8_t {
  kInside,  ///< all windows, and all outputs
  kEdge,    ///< windows hang over an edge, or the row ends before the last output
};

/// kPixels outputs next to each other: an input is loaded once for all that read it.
template <int kWidth, int kStride, int kPixels, Where kWhere>
HWY_INLINE void pixels(const DepthwiseRow& row, int64_t x, int64_t c) {
  constexpr bool kEdge = kWhere == Where::kEdge;
  const D d;
  const int64_t outputs = row.window.out[2] - x, start = row.window.start(2, x);
  V sum[kPixels];
#pragma GCC unroll 8
  for (int i = 0; i < kPixels; ++i) sum[i] = kEdge && i >= outputs ? hn::Zero(d) : start_of(row, x + i, c, kLanes);
  for (int64_t line = 0; line < row.num_lines; ++line) {
    const float* in = row.lines[line] + start * row.in_ld + c;
    const float* weights = row.weights[line] + c;
    V weight[kWidth];
#pragma GCC unroll 7
    for (int k = 0; k < kWidth; ++k) weight[k] = hn::LoadU(d, weights + k * row.weights_ld);
#pragma GCC unroll 24
    for (int at = 0; at < (kPixels - 1) * kStride + kWidth; ++at, in += row.in_ld) {
      if (kEdge && static_cast<uint64_t>(start + at) >= static_cast<uint64_t>(row.window.in[2])) continue;
      const V value = hn::LoadU(d, in);
#pragma GCC unroll 8
      for (int i = 0; i < kPixels; ++i) {
        const int k = at - i * kStride;
        if (k >= 0 && k < kWidth) sum[i] = hn::MulAdd(value, weight[k], sum[i]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kPixels; ++i)
    if (!kEdge || i < outputs) finish(row, sum[i], x + i, c, kLanes);
}

template <int kWidth, int kStride>
void whole_row(const DepthwiseRow& row) {
  constexpr int kMost = kWidth > 5 && HWY_TARGET == HWY_AVX2 ? 6 : 8;  // kMost sums and kWidth weights in registers
  constexpr int kFew = 4;
  const Window& w = row.window;
  // Outputs [x0, x1) have their windows inside.
  const int64_t x0 = std::min(w.out[2], (w.pad[2] + kStride - 1) / kStride);
  const int64_t room = w.in[2] + w.pad[2] - kWidth;
  const int64_t x1 = std::max(x0, std::min(w.out[2], room < 0 ? 0 : room / kStride + 1));
  // The last vector may take channels of the one before once more, unless results feed on what stands in their place.
  const bool again = !row.add_to_out && row.residual != row.out;
  for (int64_t c = 0; c < row.channels; c += kLanes) {
    if (c + kLanes > row.channels) {
      if (!again || row.channels < kLanes) return any_pixels(row, 0, w.out[2], c);
      c = row.channels - kLanes;
    }
    int64_t x = 0;
    for (; x < x0; x += kFew) pixels<kWidth, kStride, kFew, Where::kEdge>(row, x, c);
    for (; x + kMost <= x1; x += kMost) pixels<kWidth, kStride, kMost, Where::kInside>(row, x, c);
    for (; x + kFew <= x1; x += kFew) pixels<kWidth, kStride, kFew, Where::kInside>(row, x, c);
    for (; x < w.out[2]; x += kFew) pixels<kWidth, kStride, kFew, Where::kEdge>(row, x, c);
  }
}

template <int kWidth>
bool of_width(const DepthwiseRow& row) {
  if (row.window.stride[2] == 1) return whole_row<kWidth, 1>(row), true;
  if (row.window.stride[2] == 2) return whole_row<kWidth, 2>(row), true;
  return false;
}

void run_row(const DepthwiseRow& row) {
  const Window& w = row.window;
  if (w.dilation[2] == 1 && w.pad[2] >= 0) {
    if (w.kernel[2] == 3 && of_width<3>(row)) return;
    if (w.kernel[2] == 5 && of_width<5>(row)) return;
    if (w.kernel[2] == 7 && of_width<7>(row)) return;
  }
  any_pixels(row, 0, w.out[2], 0);
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

void run_depthwise_row(const DepthwiseRow& row) { KILN_DISPATCH(run_row)(row); }

}  // namespace kiln::cpu
#endif
