/// Coordinates of the elements that are not zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/device/team.h"
#include "tensor/dtype.h"
#include "tensor/extents.h"

namespace kiln::cpu {

struct NonZeroShape {
  Extents x;
  DType dtype = DType::kF32;  ///< one that has value_bits (steps/non_zero.h)
  bool wide_indices = true;   ///< i64, else i32
  int64_t most = 0;           ///< that there is room for
};

int64_t non_zero_workspace(const NonZeroShape& shape);  ///< bytes

/// Returns their number n. y becomes [rank, n], unless n is above `most`: then it stays as it is.
int64_t non_zero(Team& team, const NonZeroShape& shape, const void* x, void* y, std::byte* workspace);

}  // namespace kiln::cpu
