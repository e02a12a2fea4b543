/// Elements, or slices along an axis, without those that are there already (ops/unique.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "steps/lane_extents.h"
#include "tensor/dtype.h"

namespace kiln::cpu {

struct UniqueShape {
  LaneExtents slices;         ///< of x; fewer than 2^31
  DType dtype = DType::kF32;  ///< one that is_told_apart (steps/unique.h)
  bool sorted = true;
  int64_t room = 0;  ///< for different ones
};
struct UniqueOutputs {
  void* y;
  int64_t *first, *inverse, *counts;
};

int64_t unique_workspace(const UniqueShape& shape);  ///< bytes

/// Returns how many are different. Outputs are written unless there is no room for so many.
int64_t unique(const UniqueShape& shape, const void* x, const UniqueOutputs& outputs, std::byte* workspace);

}  // namespace kiln::cpu
