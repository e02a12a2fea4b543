// Softmax along very many short rows.
#pragma once

#include "lanes/short_rows.cuh"
#include "lanes/softmax_rows.cuh"

namespace kiln {

/// x, y  (rows, kCols), aligned to 16 bytes; kTeam threads a row, kThreads a block.
template <class T, int kCols, int kTeam, int kThreads>
__device__ __forceinline__ void softmax_short(const T* x, T* y, int64_t rows, int64_t) {
  __shared__ StagedRows<T, kCols, kTeam, kThreads> staged;
  using Row = ShortRow<T, kCols, kTeam, kThreads>;
  const float kLeast = __int_as_float(0xff800000);
  pdl_launch();
  pdl_wait();
  map_short_rows<T, kCols, kTeam, kThreads>(staged, x, y, rows, kLeast, [&](Row& row) {
    float(&values)[Row::kCount] = row.values;
    const ExpFrom<T> exp_from{row.fold(kLeast, Greater(), [&](int k) { return values[k]; })};
    const float share = share_of<T>(row.fold(0, Plus(), [&](int k) { return values[k] = exp_from(values[k]); }));
#pragma unroll
    for (int k = 0; k < Row::kCount; ++k) values[k] *= share;
  });
}

}  // namespace kiln
