/// Images sampled between their pixels: at positions, and in regions. Rules are those of ops/sampling-inl.h.
#pragma once

#include <array>
#include <cstdint>

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/outside_indices.h"
#include "ops/grid_sample.h"
#include "ops/roi_align.h"
#include "tensor/dtype.h"

namespace kiln::cpu {

/// x is dense [batches, channels, image], fewer than 2^31 pixels; grid is [batches, samples, axes].
struct GridSampleShape {
  int64_t batches = 1, channels = 1, samples = 1;
  int axes = 2;  ///< 2 or 3
  std::array<int64_t, 3> image{};
  DType dtype = DType::kF32, grid = DType::kF32;
};
void grid_sample(Team& team, const ops::GridSample& op, const GridSampleShape& shape, const void* x, const void* grid,
                 void* y);

/// x is dense [batches, channels, height, width]; rois are [regions, 4].
struct RoiAlignShape {
  int64_t batches = 1, channels = 1, regions = 1;
  std::array<int64_t, 2> image{};
  DType dtype = DType::kF32, rois = DType::kF32;
  bool wide_indices = false;  ///< i64, else i32
};
/// Returns the batch indices that are of no image; the bins of their regions become zeros.
OutsideIndices roi_align(Team& team, const ops::RoiAlign& op, const RoiAlignShape& shape, const void* x,
                         const void* rois, const void* batch_indices, void* y);

}  // namespace kiln::cpu
