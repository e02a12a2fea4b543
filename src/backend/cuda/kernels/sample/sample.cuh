// Images sampled between their pixels: at the positions of a grid, and in regions.
#pragma once

#include "ops/sampling-inl.h"
#include "sample/arguments.h"

namespace kiln {

/// One position of some channels, by kMode (SampleRule) along each of kAxes axes.
template <class T, class G, int kMode, int kAxes>
__device__ __forceinline__ void grid_sample_at(const cuda::GridSampleArgument& g) {
  constexpr int kEach = 1 << kMode;
  const int64_t thread = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  pdl_launch();
  pdl_wait();
  if (thread >= g.threads) return;
  const int64_t sample = thread % g.samples, batch = thread / g.samples / g.groups;
  const int first = int(thread / g.samples % g.groups) * cuda::kSampleChannels;
  const device::SampleRule rule{kMode, g.outside, g.align_corners != 0};
  const G* at = static_cast<const G*>(g.grid) + (batch * g.samples + sample) * kAxes;
  device::AxisTaps taps[3];  // outermost axis first; a plane has a first axis of one pixel
  taps[0].index[0] = 0, taps[0].weight[0] = 1;
#pragma unroll
  for (int axis = 0; axis < kAxes; ++axis)
    device::axis_taps(to_float(at[kAxes - 1 - axis]), g.image[3 - kAxes + axis], rule, taps[3 - kAxes + axis]);
  for (int c = first; c < min(first + cuda::kSampleChannels, g.channels); ++c) {
    const T* x = static_cast<const T*>(g.x) + (batch * g.channels + c) * g.plane;
    float sum = 0;
#pragma unroll
    for (int d = 0; d < (kAxes == 3 ? kEach : 1); ++d)
#pragma unroll
      for (int h = 0; h < kEach; ++h)
#pragma unroll
        for (int w = 0; w < kEach; ++w) {
          const float weight = taps[0].weight[d] * taps[1].weight[h] * taps[2].weight[w];
          if (taps[0].index[d] < 0 || taps[1].index[h] < 0 || taps[2].index[w] < 0 || weight == 0) continue;
          const int64_t row = int64_t(taps[0].index[d]) * g.image[1] + taps[1].index[h];
          sum += weight * to_float(x[row * g.image[2] + taps[2].index[w]]);
        }
    static_cast<T*>(g.y)[(batch * g.channels + c) * g.samples + sample] = from_float<T>(sum);
  }
}

/// One bin of one channel.
template <class T, class R>
__device__ __forceinline__ void roi_align_at(const cuda::RoiAlignArgument& r, int64_t* fault) {
  const int64_t thread = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  pdl_launch();
  pdl_wait();
  if (thread >= r.threads) return;
  const int column = int(thread % r.bins[1]), row = int(thread / r.bins[1] % r.bins[0]);
  const int64_t plane = thread / r.bins[1] / r.bins[0], region = plane / r.channels;
  const int64_t batch =
      r.is_wide ? static_cast<const int64_t*>(r.batches)[region] : static_cast<const int32_t*>(r.batches)[region];
  T& y = static_cast<T*>(r.y)[thread];
  if (batch < 0 || batch >= r.num_batches) {
    *static_cast<volatile int64_t*>(fault) = batch << 1 | 1;
    y = from_float<T>(0);
    return;
  }
  float roi[4];
  for (int i = 0; i < 4; ++i) roi[i] = to_float(static_cast<const R*>(r.rois)[region * 4 + i]);
  const device::RoiBins bins = device::roi_bins(roi, r.scale, r.half_pixel != 0, r.bins, r.sampling_ratio);
  const int64_t pixels = int64_t(r.image[0]) * r.image[1];
  const T* x = static_cast<const T*>(r.x) + (batch * r.channels + plane % r.channels) * pixels;
  const int samples = bins.samples[0] * bins.samples[1];
  float sum = 0, greatest = samples > 0 ? __int_as_float(0xff800000) : 0;
  for (int i = 0; i < bins.samples[0]; ++i) {
    device::AxisTaps rows, columns;
    const bool is_row = device::roi_taps(bins, 0, row, i, r.image[0], rows);
    for (int j = 0; j < bins.samples[1]; ++j) {
      const bool inside = is_row && device::roi_taps(bins, 1, column, j, r.image[1], columns);
      if (!inside) greatest = greater(greatest, 0);
#pragma unroll
      for (int tap = 0; tap < 4; ++tap) {
        const float weight = inside ? rows.weight[tap / 2] * columns.weight[tap % 2] : 0;
        const float value =
            weight == 0 ? 0 : weight * to_float(x[int64_t(rows.index[tap / 2]) * r.image[1] + columns.index[tap % 2]]);
        sum += value;
        greatest = greater(greatest, value);
      }
    }
  }
  y = from_float<T>(r.is_max ? greatest : sum / float(max(1, samples)));
}

}  // namespace kiln
