/// What the kernels of sample.cuh are given.
#pragma once

#include <cstdint>

namespace kiln::cuda {

inline constexpr int kSampleThreads = 256;
inline constexpr int kSampleChannels = 8;  ///< of one thread

/// Threads count positions, then groups of channels, then batches.
struct GridSampleArgument {
  const void *x = nullptr, *grid = nullptr;
  void* y = nullptr;
  int64_t threads = 0, samples = 0;
  int32_t channels = 0, groups = 0;
  int32_t image[3] = {};  ///< extents
  int64_t plane = 0;
  int32_t outside = 3, align_corners = 0;  ///< SampleRule
};

/// Threads count elements of y.
struct RoiAlignArgument {
  const void *x = nullptr, *rois = nullptr, *batches = nullptr;
  void* y = nullptr;
  int64_t threads = 0, num_batches = 0;
  int32_t channels = 0;
  int32_t image[2] = {}, bins[2] = {};  ///< extents
  int32_t sampling_ratio = 0, half_pixel = 0, is_max = 0, is_wide = 0;
  float scale = 1;
};

}  // namespace kiln::cuda
