#pragma once

#include "backend/cuda/kernels/nest/arguments.h"

namespace kiln::cuda {

/// Strides and extents of data in units.
struct GatherArgument {
  const void *data = nullptr, *indices = nullptr;
  void* y = nullptr;
  uint32_t count = 0;         ///< units of y
  uint32_t step = 0;          ///< rows: from one unit of a thread to its next; 0: it has one
  Divisor row, picks, outer;  ///< y is [batch, outer, picks, row]
  int64_t data_batch = 0, index_batch = 0;
  int64_t extent = 1;  ///< of the axis
  int32_t rank = 0;    ///< elements: axes; nd: coordinates
  int32_t axis = 0;
  Divisor extents[kMaxAxes];  ///< elements: of y; nd: of the axes picked from
  int64_t strides[kMaxAxes] = {};
};

}  // namespace kiln::cuda
