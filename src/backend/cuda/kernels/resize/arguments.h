#pragma once

#include "backend/cuda/kernels/nest/arguments.h"

namespace kiln::cuda {

/// y is [planes, out, out, out, inner], inner in vectors of a kernel's width.
struct ResizeArgument {
  const void* x = nullptr;
  void* y = nullptr;
  const int32_t* index = nullptr;  ///< tap t of output i of an axis at its table's start + t * out + i
  const float* weight = nullptr;
  uint32_t count = 0;
  Divisor inner, out[3];
  int32_t taps[3] = {1, 1, 1}, table[3] = {0, 0, 0};
  int64_t plane = 0;               ///< elements of x from one plane to the next
  int64_t strides[3] = {0, 0, 0};  ///< of x
  int32_t width = 1;               ///< elements of a vector
  // Bands only, which have two taps along out[1] and out[2] and one along out[0]:
  Divisor bands;             ///< along out[1]
  int32_t first_rows = 0;    ///< where in `index` each band has its first row of x, and how many follow that one
  int32_t band_weights = 0;  ///< and the weights of its rows in `weight`, for each output row of the band, 16 bytes
                             ///< aligned
  int32_t strip = 1;         ///< strips: rows of a block; `inner` is of vectors in a row of x
};

}  // namespace kiln::cuda
