#pragma once

#include "backend/cuda/kernels/nest/arguments.h"

namespace kiln::cuda {

/// A block's slice of channels is a multiple of 8; slices that reach past the channels have weights of zero.
struct ExciteArgument {
  const void* x = nullptr;
  const void* weights = nullptr;  ///< for each block of a cluster w1's and w2's [hidden][slice]
  const float* biases = nullptr;  ///< [hidden], then [blocks * slice]
  void* y = nullptr;
  int32_t pixels = 1, channels = 8, hidden = 1, slice = 8;
  int32_t pixels_of_block = 1;
  int32_t staged = 0;                      ///< whether a block's pixels stay in its shared memory
  float share = 1;                         ///< 1 / pixels
  int32_t rows = 1;                        ///< of threads, a vector of channels each: threads / vectors
  Divisor by_vectors, by_quads, by_slice;  ///< of channels / vector, channels / 4, slice
};

}  // namespace kiln::cuda
