/// Products of few rows by B as it lies in memory: packing would write B, and read it again, for a few steps each.
#pragma once

#include "backend/cpu/kernels/gemm/block.h"
#include "backend/cpu/kernels/gemm/pack.h"

namespace kiln::cpu {

/// Whether `run_direct` takes a product of m rows by this k x n matrix: the rows are few, and B's rows or columns are
/// contiguous.
bool is_direct(int64_t m, int64_t k, int64_t n, const Matrix& b);

/// run_block of one tap with `b`, whose first column is the block's, in place of packed panels; block.a holds `rows`
/// pointers. Where B's rows are contiguous, bits are those of run_block. Each element's sum is taken in one order
/// whatever the block's columns.
void run_direct(const Block& block, const Matrix& b);

}  // namespace kiln::cpu
