// Softmax along rows of an odd number of halves. Two of them are `cols` whole words, of which the one in the middle
// holds the end of the first row and the beginning of the second.
#pragma once

#include "lanes/softmax_rows.cuh"

namespace kiln {

/// A lane's words i * 32 + lane of a row that has (cols + 1) / 2, all but those of the last load for sure. Of an odd
/// number of rows the last one ends with half of a word, whose other half is read too: no page ends inside a word.
template <class T, int kLoads>
struct OddRow {
  unsigned words[kLoads];

  __device__ __forceinline__ float operator[](int k) const {
    return to_float(T{static_cast<unsigned short>(words[k / 2] >> k % 2 * 16)});
  }
  /// `from` is the lane's. What `first` and `last` select of -infinity does not belong to the row.
  __device__ __forceinline__ void load(const unsigned* from, bool has_last, unsigned first, unsigned last) {
#pragma unroll
    for (int i = 0; i + 1 < kLoads; ++i) words[i] = from[i * kWarp];
    words[kLoads - 1] = kLeastBits<T>;
    if (has_last) words[kLoads - 1] = from[(kLoads - 1) * kWarp];
    words[0] = __byte_perm(words[0], kLeastBits<T>, first);
    words[kLoads - 1] = __byte_perm(words[kLoads - 1], kLeastBits<T>, last);
  }
};

/// x, y  (rows, cols), aligned to words: two rows a warp.
template <class T, int kLoads>
__device__ __forceinline__ void softmax_odd(const T* x, T* y, int64_t rows, int cols) {
  constexpr int kCount = kLoads * 2;
  pdl_launch();
  const WarpTeam team;
  const int lane = team.thread(), middle = cols / 2, last_word = (kLoads - 1) * kWarp + lane;
  const int64_t pair = team.first();  // `cols` words, of which both rows have the middle one
  if (pair * 2 >= rows) return;       // warps leave whole
  const bool has_second = pair * 2 + 1 < rows, has_last = last_word <= middle, is_middle = last_word == middle;
  // The first row ends with the first half of the middle word, and the second row begins with its second half.
  constexpr unsigned kAll = 0x3210, kLow = 0x7610, kHigh = 0x3254;
  const unsigned* from = reinterpret_cast<const unsigned*>(x) + pair * cols + lane;
  unsigned* to = reinterpret_cast<unsigned*>(y) + pair * cols + lane;
  OddRow<T, kLoads> row[2] = {};
  pdl_wait();
  row[0].load(from, has_last, kAll, is_middle ? kLow : kAll);
  if (has_second) row[1].load(from + middle, has_last, lane == 0 ? kHigh : kAll, kAll);
  float values[2][kCount], share[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    share[r] = row[r][0];
#pragma unroll
    for (int k = 1; k < kCount; ++k) share[r] = greater(share[r], row[r][k]);
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const ExpFrom<T> exp_from{warp_max(share[r])};
    share[r] = 0;
#pragma unroll
    for (int k = 0; k < kCount; ++k) share[r] += values[r][k] = exp_from(row[r][k]);
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    share[r] = share_of<T>(warp_sum(share[r]));
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const unsigned word = pack2<T>(values[r][2 * i] * share[r], values[r][2 * i + 1] * share[r]);
      unsigned* place = to + r * middle + i * kWarp;
      unsigned short* halves = reinterpret_cast<unsigned short*>(place);
      const bool exists = (i + 1 < kLoads || has_last) && (r == 0 || has_second);
      const bool low = r == 0 && i + 1 == kLoads && is_middle, high = r == 1 && i == 0 && lane == 0;
      if (low) halves[0] = static_cast<unsigned short>(word);
      if (high && exists) halves[1] = static_cast<unsigned short>(word >> 16);
      if (exists && !low && !high) *place = word;
    }
  }
}

}  // namespace kiln
