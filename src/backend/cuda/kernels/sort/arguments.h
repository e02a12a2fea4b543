// Arguments of the kernels of kernels/sort, for host and device.
#pragma once

#include <cstdint>

namespace kiln::cuda {

/// Bits of a key that one pass over a row decides: of those that select, and of those that sort.
inline constexpr int kSelectDigit = 11, kSortDigit = 8;
inline constexpr int kSelectBins = 1 << kSelectDigit, kSortBins = 1 << kSortDigit;
inline constexpr int kSortThreads = 256;   ///< of blocks that read a chunk of a row
inline constexpr int kShortThreads = 512;  ///< of blocks that sort in shared memory

/// Bytes of an item, which is a key and the index of its element.
constexpr int item_bytes(int key_bits) { return key_bits == 64 ? 16 : 8; }
/// Items that a block sorts in shared memory.
constexpr int items_of_block(int key_bits) { return 32768 / item_bytes(key_bits); }

/// What is known of the k-th element of a long row.
struct TopKRow {
  uint64_t prefix;   ///< the bits of its key that are known; others are 0
  uint32_t low;      ///< the lowest bit that is known
  uint32_t ties;     ///< how many of the elements with this prefix are among the first k
  uint32_t is_done;  ///< a block sorts all elements of this prefix and those before
  uint32_t arrived;  ///< blocks that have counted
  uint32_t found;    ///< items that were gathered
};

struct TopKArgument {
  const void* x = nullptr;
  void* values = nullptr;
  void* indices = nullptr;
  uint32_t rows = 0, inner = 1, length = 0, k = 0;  ///< rows run along `length` of [rows / inner, length, inner]
  uint32_t is_largest = 0, is_wide = 0;             ///< is_wide: indices are i64
  uint32_t padded = 1;                              ///< short rows: the power of two that holds one
  uint32_t chunks = 1, chunk_length = 0;            ///< long rows
  TopKRow* states = nullptr;                        ///< one a row
  uint32_t* counts = nullptr;                       ///< a row: bins of digits; sorting: bins, of each the chunks
  uint32_t* chunk_ties = nullptr;                   ///< a row: chunks
  void* items = nullptr;                            ///< a row: those of a block; sorting: two times all rows
};

}  // namespace kiln::cuda
