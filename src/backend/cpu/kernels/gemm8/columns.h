/// What a contraction of bytes does with the sums of each column.
#pragma once

#include "backend/cpu/kernels/gemm8/contract.h"
#include "backend/cpu/kernels/gemm8/dot.h"

namespace kiln::cpu {

/// By column, up to a panel's end: what is taken off sums, what they are multiplied by, and what is added.
struct Columns {
  int32_t* correction;
  float *scale, *bias;
};

/// Bytes of one of the arrays.
constexpr int64_t column_bytes(int64_t columns) { return round_up(columns, kDotPanel) * 4; }

/// Fills arrays that lie one behind the other from `memory` on. Sums were made of x + `x_shift`; what they become is
/// multiplied by `inverse`.
Columns fill_columns(const PackedBytes& w, const ByteScales& scales, const float* bias, int32_t x_shift, float inverse,
                     std::byte* memory);

}  // namespace kiln::cpu
