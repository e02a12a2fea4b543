/// What the kernels of cumulative.cuh are given.
#pragma once

#include <cstdint>

namespace kiln::cuda {

inline constexpr int kScanThreads = 256;
inline constexpr int kScanEach = 4;  ///< neighbours of a row that a thread sums

/// Rows run along `length` of [rows / inner, length, inner], and are cut into chunks.
struct CumulativeArgument {
  const void* x = nullptr;
  void* y = nullptr;
  void* sums = nullptr;  ///< of chunks: [rows, chunks]; null where there is one chunk
  int64_t rows = 0, inner = 1, length = 0;
  int64_t chunks = 1, chunk_length = 0;
  int32_t exclusive = 0, reverse = 0;
  int32_t per_thread = 0;  ///< a thread sums a row, not a block
};

}  // namespace kiln::cuda
