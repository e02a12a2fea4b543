/// Running sums and products.
#pragma once

#include <cstdint>

#include "backend/cpu/device/team.h"
#include "ops/cumulative.h"
#include "tensor/dtype.h"

namespace kiln::cpu {

/// x and y are dense [outer, length, inner] of f32, f16, bf16, i32 or i64; sums or products run along `length`.
struct CumulativeShape {
  int64_t outer = 1, length = 1, inner = 1;
  DType dtype = DType::kF32;
  CumulativeOperation operation = CumulativeOperation::kSum;
  bool exclusive = false, reverse = false;
};
/// Computes floats in double; integers wrap.
void cumulative(Team& team, const CumulativeShape& shape, const void* x, void* y);

}  // namespace kiln::cpu
