/// Kernels of kNormalizeSlices.
#pragma once

#include <string>

#include "base/str.h"

namespace kiln::cuda {

/// Kernels of blocks of kLeastThreads and its doubles, and what they share.
struct SlicesKernel {
  static constexpr int64_t kLine = 16;                              ///< bytes of a vector
  static constexpr int64_t kHeld = 16;                              ///< vectors of a thread
  static constexpr int64_t kLeastThreads = 32, kMostThreads = 512;  ///< a warp; all of a multiprocessor
  static std::string entry(int64_t threads, int64_t vec) { return str("normalize_slices_", threads, '_', vec); }
};

}  // namespace kiln::cuda
