/// B of a contraction, rearranged once so that the register tile reads it in a straight line.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/kernels/aligned.h"
#include "tensor/dtype.h"

namespace kiln::cpu {

/// A k x n matrix in any order: element (i, j) of tap t is data[t * tap_stride + i * k_stride + j * n_stride].
struct Matrix {
  const float* data;
  ptrdiff_t k_stride, n_stride;
  ptrdiff_t tap_stride = 0;
};

/// Elements that `taps` matrices k x n take when packed for the chosen target.
int64_t packed_size(int64_t taps, int64_t k, int64_t n);

/// Packs panels [panel0, panel1) of B to `packed`, which holds all: [ceil(n / panel)][taps][k][panel], with zeros
/// beyond column n. `packed` is aligned to kCacheLine.
void pack_panels(const Matrix& b, int64_t taps, int64_t k, int64_t n, int64_t panel0, int64_t panel1, float* packed);

/// Packed weights that own their memory. They belong to the target they were packed for.
struct PackedB {
  int64_t taps = 1, k = 0, n = 0, batch = 1;
  int64_t panel = 0;  ///< tiling().panel when packed
  AlignedFloats data;
  DType dtype = DType::kF32;  ///< of the panels' elements: kF16 and kBF16 lie in `data` as such

  /// Matrix `index` of FP32 panels.
  const float* at(int64_t index) const { return data.data() + index * packed_size(taps, k, n); }
};

/// `batch` products' B, each `batch_stride` after the last, rounded to `dtype`. Fails with kOutOfMemory only.
Result<PackedB> pack_b(const Matrix& b, int64_t k, int64_t n, int64_t taps = 1, int64_t batch = 1,
                       ptrdiff_t batch_stride = 0, DType dtype = DType::kF32);

}  // namespace kiln::cpu
