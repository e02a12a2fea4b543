/// What the kernels of cumulative.cuh and non_zero.cuh are given.
#pragma once

#include <cstdint>

#include "backend/cuda/kernels/nest/arguments.h"

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

inline constexpr int kMarkThreads = 256, kMarkWarps = kMarkThreads / 32;
inline constexpr int kMarkGroup = 1024;  ///< elements that a warp takes at once: a word of marks a lane

/// A mark is a bit, set where an element is not zero. A block has the same elements in both launches; its warps have
/// neighbouring groups.
struct NonZeroArgument {
  const void* x = nullptr;
  void* y = nullptr;
  uint64_t tested = 0;                ///< bits of an element that are all 0 where it is zero
  int64_t count = 0, most = 0;        ///< elements, and how many coordinates y has room for
  int64_t groups = 0, of_a_warp = 0;  ///< all groups, and those of one warp
  int32_t rank = 0;
  int32_t is_wide = 0;     ///< whether linear indices have more than 31 bits
  Divisor axes[kMaxAxes];  ///< unless is_wide
  int64_t extents[kMaxAxes] = {};
  uint32_t* marks = nullptr;      ///< [groups, 32]
  uint64_t* of_blocks = nullptr;  ///< numbers of marks: [blocks]
  uint64_t* of_warps = nullptr;   ///< [blocks, kMarkWarps]
  int64_t* found = nullptr;       ///< takes the number of all
};

}  // namespace kiln::cuda
