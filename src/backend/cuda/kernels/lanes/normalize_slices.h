/// Large tensors of pixels, channels last, slice by slice: kernels/lanes/normalize_slices.cuh.
#pragma once

#include <string>

#include "backend/cuda/kernels/lanes/normalize.h"

namespace kiln::cuda {

/// Kernels of blocks of kLeastThreads and its doubles, and what they share.
struct SlicesKernel {
  static constexpr int64_t kLine = 16;                              ///< bytes of a vector
  static constexpr int64_t kHeld = 16;                              ///< vectors of a thread
  static constexpr int64_t kLeastThreads = 32, kMostThreads = 512;  ///< a warp; all of a multiprocessor
  static std::string entry(int64_t threads, int64_t vec) { return str("normalize_slices_", threads, '_', vec); }
};
/// Makes of a launch, in which is what does not depend on how groups are shared, one of such a kernel. Whether it can:
/// groups have no whole vectors, x is larger than what stays in cache, and a slice of pixels that has whole groups and
/// lines of memory, or halves of lines, fits the registers of a cluster. All is aligned to 16 bytes.
bool cut_slices(NormalizationLaunch& launch, const NormalizationShape& shape, int element_bytes, const GroupRoom& room);

}  // namespace kiln::cuda
