#include "backend/cuda/kernels/sample/sample.h"

#include <algorithm>

namespace kiln::cuda {

GridSampleArgument grid_sample_argument(const ops::GridSample& op, const Extents& x, const Extents& grid) {
  GridSampleArgument g;
  const size_t axes = x.size() - 2;
  g.samples = volume(std::span(grid).subspan(1, axes));
  g.channels = static_cast<int32_t>(x[1]);
  g.groups = (g.channels + kSampleChannels - 1) / kSampleChannels;
  g.threads = g.samples * g.groups * x[0];
  std::fill_n(g.image, 3, 1);
  for (size_t i = 0; i < axes; ++i) g.image[3 - axes + i] = static_cast<int32_t>(x[2 + i]);
  g.plane = volume(std::span(x).subspan(2));
  g.outside = static_cast<int32_t>(op.outside);
  g.align_corners = op.align_corners;
  return g;
}

RoiAlignArgument roi_align_argument(const ops::RoiAlign& op, const Extents& x, const Extents& rois, bool wide_indices) {
  RoiAlignArgument r;
  r.channels = static_cast<int32_t>(x[1]);
  r.num_batches = x[0];
  for (size_t i = 0; i < 2; ++i) r.image[i] = static_cast<int32_t>(x[2 + i]);
  r.bins[0] = op.height, r.bins[1] = op.width;
  r.threads = rois[0] * x[1] * op.height * op.width;
  r.sampling_ratio = op.sampling_ratio;
  r.half_pixel = op.half_pixel;
  r.is_max = op.mode == RoiMode::kMax;
  r.is_wide = wide_indices;
  r.scale = static_cast<float>(op.spatial_scale);
  return r;
}

LaunchShape sample_shape(int64_t threads) { return flat_shape(threads, kSampleThreads); }

}  // namespace kiln::cuda
