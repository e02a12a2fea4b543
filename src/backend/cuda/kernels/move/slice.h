/// Slices whose coordinates may lie outside of the source: ops::Slice in the modes that allow it.
#pragma once

#include "backend/cuda/device/kernel_source.h"
#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/nest/walk.h"
#include "ops/slice.h"

namespace kiln::cuda {

/// Elements of 1, 2, 4 or 8 bytes.
KernelSource slice_source(int element_bytes);

/// A slice from dense memory to dense memory, planned when shapes are bound.
class BoundSlice {
 public:
  /// Extents in the order of memory.
  BoundSlice(SliceMode mode, std::span<const int64_t> from, std::span<const int64_t> to,
             std::span<const int64_t> starts, std::span<const int64_t> strides);
  const LaunchShape& shape() const { return shape_; }
  /// `fill` is one element, read in mode kFill; null: zeros.
  Status run(const Stream& stream, const Function& function, const void* from, const void* fill, void* to);

 private:
  // What kernels/move/slice.cuh declares, byte for byte.
  struct Axis {
    int64_t extent, start, step, stride;
  };
  struct Argument {
    WideWalkArgument walk;
    const void* from = nullptr;
    void* to = nullptr;
    const void* fill = nullptr;
    int32_t mode = 0;
    Axis axes[kMaxRank] = {};
  } argument_;
  LaunchShape shape_;
};

}  // namespace kiln::cuda
