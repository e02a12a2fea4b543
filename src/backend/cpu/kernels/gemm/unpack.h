/// The inverse of pack.h.
#pragma once

#include <algorithm>

#include "backend/cpu/kernels/gemm/pack.h"

namespace kiln::cpu {

/// Writes the elements that `pack_b` read as FP32, bit for bit, to where these strides put them behind `to`;
/// `strides.data` is not read.
inline void unpack_b(const PackedB& packed, const Matrix& strides, ptrdiff_t batch_stride, float* to) {
  CHECK(packed.dtype == DType::kF32);
  const float* from = packed.data.data();
  for (int64_t i = 0; i < packed.batch; ++i)
    for (int64_t col = 0; col < packed.n; col += packed.panel)
      for (int64_t t = 0; t < packed.taps; ++t) {
        float* const part = to + i * batch_stride + t * strides.tap_stride + col * strides.n_stride;
        for (int64_t row = 0; row < packed.k; ++row, from += packed.panel)
          for (int64_t j = 0; j < std::min(packed.panel, packed.n - col); ++j)
            part[row * strides.k_stride + j * strides.n_stride] = from[j];
      }
}

}  // namespace kiln::cpu
