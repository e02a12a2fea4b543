#pragma once

#include "backend/cuda/kernels/nest/arguments.h"

namespace kiln::cuda {

/// A slice is what one update is for: its extents and strides in slices.
struct ScatterArgument {
  const void *data = nullptr, *indices = nullptr, *updates = nullptr;
  void* y = nullptr;
  int32_t* owners = nullptr;  ///< by slice of y: the update that it takes, or -1
  uint32_t copied = 0;        ///< units of y, of the first launch
  uint32_t slices = 0;        ///< of y
  uint32_t picks = 0;         ///< updates
  Divisor row;                ///< units of a slice, of the last launch
  int32_t rank = 0;           ///< elements: axes; nd: coordinates
  int32_t axis = 0;
  int64_t extent = 1;         ///< elements: of the axis in y
  Divisor extents[kMaxAxes];  ///< elements: of updates; nd: of the axes of y
  int64_t strides[kMaxAxes] = {};
};

}  // namespace kiln::cuda
