/// The one register tile behind matrix products and convolutions: rows of pointers times packed panels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace kiln::cpu {

/// Shape of the register tile of the chosen target.
struct Tiling {
  int64_t rows;   ///< of the tile; pointer tables come in groups of this many
  int64_t panel;  ///< columns of a panel of packed B
};
Tiling tiling();

/// Most rows that one block should have: its A (rows x kDepth floats) stays within half an L2 cache.
inline constexpr int64_t kBlockRows = 96;

/// c[rows, cols] = clamp(bias + residual + sum over taps t and i < k of a[t][row][i] * b[t][i][col]).
///
/// A is a table of pointers, [ceil(rows / tiling().rows)][taps][tiling().rows], each to k floats (after `a_offset` is
/// added); entries beyond the last row are never read. That serves a plain matrix (one tap), an implicit convolution
/// (a tap a kernel position, padding points to zeros) and the products inside Winograd. Where each row's taps lie
/// equally far from its first, `tap_offsets` says how far, and the table has that first pointer alone.
///
/// B is packed (pack.h): ceil(cols / panel) panels of [taps][k][panel] elements of `b_type`, zeros beyond the last
/// column. Each element's sum is taken in one order whatever the block's extents, so that splitting work never changes
/// bits.
struct Block {
  const float* const* a;
  ptrdiff_t a_offset = 0;
  const ptrdiff_t* tap_offsets = nullptr;  ///< [taps], or null: the table has [taps] pointers a row
  int64_t rows, cols;
  int64_t taps = 1, k;
  int64_t packed_k = 0;  ///< of B as packed where `k` is only its beginning; else 0
  const void* b;
  DType b_type = DType::kF32;  ///< or kF16, kBF16: expanded in registers
  bool b_is_near = false;      ///< in L2, from a call before: nothing is fetched ahead
  float* c;
  ptrdiff_t ldc;
  const float* bias = nullptr;
  const float* residual = nullptr;
  ptrdiff_t ldr = 0;
  float lo, hi;
};
void run_block(const Block& block);

}  // namespace kiln::cpu
