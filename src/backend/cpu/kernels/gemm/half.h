/// Panels of B in FP16 or BF16: half the memory to read where a product has few rows; sums stay FP32.
#pragma once

#include <cstdint>

#include "backend/cpu/kernels/gemm/block.h"

namespace kiln::cpu {

/// run_block for panels of a half type.
void run_half_block(const Block& block);

/// Rounds `count` floats, a multiple of a panel, to nearest even. Magnitudes beyond the type's become infinite.
void narrow(const float* in, int64_t count, DType to, void* out);

}  // namespace kiln::cpu
