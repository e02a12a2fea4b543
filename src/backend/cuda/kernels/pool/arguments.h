#pragma once

#include "backend/cuda/kernels/nest/arguments.h"

namespace kiln::cuda {

/// Spatial axes are depth, height, width; absent ones have extent 1.
struct PoolArgument {
  const void* x = nullptr;
  void* y = nullptr;
  WalkArgument walk;                 ///< over y: [images or planes, depth, height, width, vectors of channels]
  int64_t x_image = 0, y_image = 0;  ///< strides; of the others, in elements too
  int64_t x_at[3] = {}, y_at[3] = {};
  int32_t in[3] = {}, kernel[3] = {}, stride[3] = {}, dilation[3] = {}, pad[3] = {}, pad_after[3] = {};
  int32_t excludes_padding = 1;
  float blend = 0;
  int32_t rows = 0;     ///< lines and pieces: of y; its walk counts bands of them
  int32_t columns = 0;  ///< pieces: of y; its walk counts pieces of them
  int32_t whole = 0;    ///< pieces: whether all are, and aligned in y
};

}  // namespace kiln::cuda
