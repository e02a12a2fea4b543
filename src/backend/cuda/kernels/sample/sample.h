/// Images sampled between their pixels, by the kernels of sample.cuh.
#pragma once

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/sample/arguments.h"
#include "ops/grid_sample.h"
#include "ops/roi_align.h"
#include "tensor/extents.h"

namespace kiln::cuda {

inline constexpr const char* kGridSampleEntry = "grid_sample";
inline constexpr const char* kRoiAlignEntry = "roi_align";

GridSampleArgument grid_sample_argument(const ops::GridSample& op, const Extents& x, const Extents& grid);
RoiAlignArgument roi_align_argument(const ops::RoiAlign& op, const Extents& x, const Extents& rois, bool wide_indices);
LaunchShape sample_shape(int64_t threads);

}  // namespace kiln::cuda
