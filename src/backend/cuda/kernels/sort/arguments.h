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
  uint32_t* totals = nullptr;                       ///< a row: sorting: bins; null: counts have what is before a bin
  uint32_t* chunk_ties = nullptr;                   ///< a row: chunks
  void* items = nullptr;                            ///< a row: those of a block; sorting: two times all rows
};

inline constexpr int kUniqueThreads = 256, kUniqueWarps = kUniqueThreads / 32;

/// Different slices: `sort` is one row of the keys of one element of each, whose items are sorted when the kernels
/// begin. A group has equal slices.
struct UniqueArgument {
  TopKArgument sort;
  const void* x = nullptr;
  uint32_t size = 1, inner = 1;  ///< elements of a slice; those of them that are neighbours
  void* y = nullptr;
  int64_t *first = nullptr, *inverse = nullptr, *counts = nullptr;
  int64_t room = 0;               ///< for different ones
  uint32_t of_a_block = 0;        ///< slices
  uint32_t passes = 0;            ///< that have sorted
  uint32_t is_sorted = 1;         ///< y is; else it has groups in the order in which they appear
  uint32_t* of_blocks = nullptr;  ///< [blocks]
  uint32_t* groups = nullptr;     ///< by slice of x
  uint32_t* starts = nullptr;     ///< by group: its first item in the sorted order
  uint32_t* firsts = nullptr;     ///< by group: its first slice in x
  uint32_t* places = nullptr;     ///< by group: its place in y, unless is_sorted
  int64_t* found = nullptr;       ///< takes the number of groups
};

inline constexpr int kSuppressThreads = 512;
inline constexpr int kSuppressItems = 4096;  ///< candidates that a block sorts at once
inline constexpr int kSuppressTile = 64;     ///< of these it compares so many with all that were selected before

/// The types that a threshold may have.
enum class LimitType : int32_t { kF32, kF16, kBF16 };

/// One list for each image and class, whose boxes a block selects.
struct NonMaxSuppressionArgument {
  const void *boxes = nullptr, *scores = nullptr;
  const void *most = nullptr, *iou = nullptr, *score = nullptr;  ///< null where absent
  int32_t most_is_wide = 0;                                      ///< i64, else i32
  LimitType iou_type = LimitType::kF32, score_type = LimitType::kF32;
  uint32_t lists = 0, classes = 1, count = 0;  ///< count: boxes of an image
  int32_t boxes_by_class = 0, is_center = 0;
  uint32_t candidates = 0;  ///< of a list that are looked at
  uint32_t kept = 0;        ///< of a list that there is memory for
  int64_t room = 0;         ///< of all lists together in `selected`
  void* selected = nullptr;
  int32_t* number = nullptr;         ///< takes how many are selected
  int64_t* found = nullptr;          ///< the same
  int64_t* starts = nullptr;         ///< by list: of its boxes in `selected`
  uint32_t* lengths = nullptr;       ///< by list
  float* kept_boxes = nullptr;       ///< [lists, kept, 4]
  uint32_t* kept_indices = nullptr;  ///< [lists, kept]
};

inline constexpr int kLongThreads = 256;   ///< of blocks that share a long list
inline constexpr int kLongRound = 4096;    ///< sorted boxes of which all pairs are compared at once
inline constexpr int kLongSelectRows = 8;  ///< of the block that selects: kLongRound / 64 threads each
inline constexpr int kLongSelectThreads = kLongSelectRows * kLongRound / kSuppressTile;

/// What is known of a long list.
struct LongList {
  uint32_t first;    ///< of the sorted boxes that is no NaN
  uint32_t before;   ///< boxes that were selected before the latest round
  uint32_t is_done;  ///< no box of a later round is selected
};

/// Long lists: `sort` sorts the scores of each; its items are sorted when the kernels begin.
struct LongSuppressionArgument {
  NonMaxSuppressionArgument list;
  TopKArgument sort;
  uint32_t passes = 0;           ///< that have sorted
  uint32_t words = 0;            ///< of 64 boxes, that hold a list's
  float* boxes = nullptr;        ///< [lists, count, 4], sorted
  uint64_t* removed = nullptr;   ///< [lists, words]: a bit for each sorted box that is not selected
  uint64_t* overlaps = nullptr;  ///< [lists, kLongRound, kLongRound / 64]: a row's bits of those behind it
  LongList* states = nullptr;    ///< by list
};

}  // namespace kiln::cuda
