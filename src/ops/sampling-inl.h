// Where samples of an image lie between its pixels: coordinates and weights, in FP32, as the reference and all kernels
// compute them.
#if defined(KILN_OPS_SAMPLING_INL_H_) == defined(HWY_TARGET_TOGGLE)  // once for each instruction set
#ifdef KILN_OPS_SAMPLING_INL_H_
#undef KILN_OPS_SAMPLING_INL_H_
#else
#define KILN_OPS_SAMPLING_INL_H_
#endif

#include "ops/scalar-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln {
namespace HWY_NAMESPACE {

/// A grid's rule by the numbers of ResizeMode and SliceMode.
struct SampleRule {
  int mode = 1;     ///< 0: the nearest pixel, 1: linear, 2: cubic
  int outside = 3;  ///< 2: the nearest pixel, 3: zeros, 4: mirrored
  bool align_corners = false;
};

/// Pixels along one axis that a sample is made of, 1, 2 or 4 of them by the mode; index -1 is a zero.
struct AxisTaps {
  int index[4];
  float weight[4];
};
HWY_INLINE int num_axis_taps(int mode) { return 1 << mode; }

/// x mirrored at low and high until it is between them.
HWY_INLINE float mirrored(float x, float low, float high) {
  const float range = high - low, beyond = x < low ? low - x : x - high;
  if (x >= low && x <= high) return x;
  if (range <= 0) return low;
  const float times = floorf(beyond / range), rest = beyond - times * range;
  const bool is_even = times == 2 * floorf(times / 2);
  return is_even == (x < low) ? low + rest : high - rest;
}
HWY_INLINE int pixel_index(int i, int extent, const SampleRule& rule) {
  if (i >= 0 && i < extent) return i;
  if (rule.outside == 3 || extent <= 0) return -1;  // less: more than an int holds, beside an axis without pixels
  const int last = extent - 1;
  if (rule.outside == 4) {  // at most an extent away: the sample itself is inside
    const int edge = rule.align_corners ? 0 : 1;
    i = i < 0 ? -i - edge : 2 * last - i + edge;
  }
  return i < 0 ? 0 : i > last ? last : i;
}

/// The taps of a sample at `at`, where -1 and 1 are the ends of the axis.
HWY_INLINE void axis_taps(float at, int extent, const SampleRule& rule, AxisTaps& taps) {
  const float last = float(extent) - 1, low = rule.align_corners ? 0.0f : -0.5f, high = last - low;
  float x = rule.align_corners ? (at + 1) / 2 * last : ((at + 1) * float(extent) - 1) / 2;
  if (rule.mode == 0) x = rintf(x);
  constexpr float kFar = 8388608;  // within it `mirrored` rounds no product, so that it does not matter who fuses them
  x = x > -kFar ? x : -kFar;       // NaN, too
  x = x < kFar ? x : kFar;
  // Cubic samples beyond the edge keep their position, and each of their pixels is the nearest one inside.
  if ((x < low || x > high) && rule.outside == 2 && rule.mode != 2) x = x < 0 ? 0 : last;
  if ((x < low || x > high) && rule.outside == 4) x = mirrored(x, low, high);
  x = x < kFar ? x : kFar;  // mirrored in an image that no memory holds
  const float floor = floorf(x), t = x - floor;
  const int first = int(floor);
  if (rule.mode == 0) {
    taps.index[0] = pixel_index(int(x), extent, rule);
    taps.weight[0] = 1;
  } else if (rule.mode == 1) {
    taps.index[0] = pixel_index(first, extent, rule), taps.index[1] = pixel_index(first + 1, extent, rule);
    taps.weight[0] = 1 - t, taps.weight[1] = t;
  } else {
    constexpr float a = -0.75f;
    const float far = 1 + t, s = 1 - t, farther = 2 - t;
    taps.weight[0] = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a;
    taps.weight[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
    taps.weight[2] = ((a + 2) * s - (a + 3)) * s * s + 1;
    taps.weight[3] = ((a * farther - 5 * a) * farther + 8 * a) * farther - 4 * a;
    for (int i = 0; i < 4; ++i) taps.index[i] = pixel_index(first - 1 + i, extent, rule);
  }
}

/// The bins of a region of interest, and the samples in each.
struct RoiBins {
  float start[2], size[2];  ///< rows, columns
  int samples[2];
};
HWY_INLINE int samples_of(float extent, int bins, int sampling_ratio) {
  if (sampling_ratio > 0) return sampling_ratio;
  constexpr int kMost = 4096;
  const float samples = ceilf(extent / float(bins));
  return samples > 0 ? samples < kMost ? int(samples) : kMost : 0;  // none for NaN
}
/// `roi`: x1, y1, x2, y2.
HWY_INLINE RoiBins roi_bins(const float* roi, float scale, bool half_pixel, const int* bins, int sampling_ratio) {
  RoiBins result;
  const float offset = half_pixel ? 0.5f : 0.0f;
  for (int axis = 0; axis < 2; ++axis) {
    const float start = roi[1 - axis] * scale - offset, end = roi[3 - axis] * scale - offset;
    const float extent = half_pixel || end - start > 1 ? end - start : 1;  // older rule: a pixel at least
    result.start[axis] = start;
    result.size[axis] = extent / float(bins[axis]);
    result.samples[axis] = samples_of(extent, bins[axis], sampling_ratio);
  }
  return result;
}
/// The two taps along an axis of sample `sample` of bin `bin`; false outside of the image.
HWY_INLINE bool roi_taps(const RoiBins& bins, int axis, int bin, int sample, int extent, AxisTaps& taps) {
  float x = bins.start[axis] + float(bin) * bins.size[axis] +
            (float(sample) + 0.5f) * bins.size[axis] / float(bins.samples[axis]);
  if (!(x >= -1 && x <= float(extent)) || extent == 0) return false;
  x = x > 0 ? x : 0;
  const int last = extent - 1, low = int(x) < last ? int(x) : last;
  const float t = low < last ? x - float(low) : 0;
  taps.index[0] = low, taps.index[1] = low < last ? low + 1 : last;
  taps.weight[0] = 1 - t, taps.weight[1] = t;
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace kiln
HWY_AFTER_NAMESPACE();

#endif
