/// Weights of bytes, rearranged once for `dot`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/gemm8/joined.h"

namespace kiln::cpu {

/// A k x n matrix of signed bytes: element (i, j) of tap t is data[t * tap_stride + i * k_stride + j * n_stride], or,
/// where k is of runs, data[t * tap_stride + i / run * run_stride + i % run * k_stride + j * n_stride].
struct ByteMatrix {
  const int8_t* data;
  ptrdiff_t k_stride, n_stride;
  ptrdiff_t tap_stride = 0;
  int64_t run = 0;  ///< 0: k is one run
  ptrdiff_t run_stride = 0;

  ptrdiff_t offset(int64_t tap, int64_t i, int64_t j) const {
    const ptrdiff_t along_k = run == 0 ? i * k_stride : i / run * run_stride + i % run * k_stride;
    return tap * tap_stride + along_k + j * n_stride;
  }
};

/// Packed weights that own their memory, in the order of DotTile::b, a panel behind the other.
struct PackedBytes {
  int64_t taps = 1, k = 0, n = 0;
  AlignedFloats data;                ///< its bytes
  std::vector<int32_t> column_sums;  ///< of each of the n columns over all taps
  JoinedSteps joined;                ///< of machines that multiply half panels, else nothing
  AlignedFloats transformed;         ///< the same weights once more where winograd.h wants them, else nothing

  int64_t panel_bytes() const;
  int8_t at(int64_t tap, int64_t i, int64_t j) const;
  const int8_t* panel(int64_t index) const {
    return reinterpret_cast<const int8_t*>(data.data()) + index * panel_bytes();
  }
};

/// Fails with kOutOfMemory only.
Result<PackedBytes> pack_bytes(const ByteMatrix& b, int64_t k, int64_t n, int64_t taps = 1);

}  // namespace kiln::cpu
