#pragma once

#include "backend/cuda/kernels/nest/arguments.h"
#include "backend/cuda/kernels/sort/arguments.h"

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

/// Updates of one slice that a thread walks through; where there are more, a block does it.
inline constexpr int kScatterRun = 128;
inline constexpr int kScatterLoaders = 256;  ///< threads of that block that load, behind a warp that reduces
inline constexpr int kScatterHeld = 2048;    ///< updates that they load at once
/// Columns of a slice that such a block has: one sector of memory.
constexpr int scatter_columns(int element_bytes) { return 32 / element_bytes; }

/// Updates in the order of the slices that they are for, those of one slice in their own. Units are elements.
struct ScatterReduceArgument {
  ScatterArgument scatter;      ///< without owners
  TopKArgument sort;            ///< of `targets`, as i32
  const void* items = nullptr;  ///< the sorted ones: a target and the number of its update
  uint32_t* targets = nullptr;  ///< by update: its slice
  uint32_t outside = 0;         ///< the target of updates that are for none: as many as there are slices
  uint32_t columns_shift = 0;   ///< long runs: of a block's columns, a power of two
};

}  // namespace kiln::cuda
