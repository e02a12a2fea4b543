// Softmax along short rows, one a thread.
#pragma once

#include "lanes/short_rows.cuh"
#include "lanes/softmax_rows.cuh"

namespace kiln {

/// x, y  (rows, kCols), aligned to 16 bytes; kRows threads a block.
template <class T, int kCols, int kRows>
__device__ __forceinline__ void softmax_short(const T* x, T* y, int64_t rows) {
  __shared__ ShortRows<T, kCols, kRows> staged;
  pdl_launch();
  const ShortRowTeam<T, kCols, kRows> team(rows);
  pdl_wait();
  team.map(staged, x, y, [](float(&values)[kCols]) {
    float peak = values[0], sum = 0;
#pragma unroll
    for (int k = 1; k < kCols; ++k) peak = greater(peak, values[k]);
    const ExpFrom<T> exp_from{peak};
#pragma unroll
    for (int k = 0; k < kCols; ++k) sum += values[k] = exp_from(values[k]);
    const float share = share_of<T>(sum);
#pragma unroll
    for (int k = 0; k < kCols; ++k) values[k] *= share;
  });
}

}  // namespace kiln

#define KILN_SOFTMAX_SHORT(entry, threads, T, cols)                                                      \
  extern "C" __global__ void __launch_bounds__(threads) entry(const T* x, T* y, int64_t rows, int64_t) { \
    kiln::softmax_short<T, cols, threads>(x, y, rows);                                                   \
  }
