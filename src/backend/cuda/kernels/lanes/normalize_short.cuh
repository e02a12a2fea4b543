// Normalisation of short rows, one a thread.
#pragma once

#include "lanes/normalize.cuh"
#include "lanes/short_rows.cuh"

namespace kiln {

/// x and y of T, aligned to 16 bytes; scale and bias of S, an element a column, or null for 1 and 0. kRows threads a
/// block.
template <class T, class S, int kCols, int kRows>
__device__ __forceinline__ void normalize_short(const Normalization& n) {
  __shared__ ShortRows<T, kCols, kRows> staged;
  pdl_launch();
  const ShortRowTeam<T, kCols, kRows> team(n.rows);
  pdl_wait();
  team.map(staged, static_cast<const T*>(n.x), static_cast<T*>(n.y), [&](float(&values)[kCols]) {
    float sum = 0, squares = 0;
#pragma unroll
    for (int k = 0; k < kCols; ++k) sum += values[k];
    const float mean = sum * n.share;
#pragma unroll
    for (int k = 0; k < kCols; ++k) {
      values[k] -= mean;
      squares += values[k] * values[k];
    }
    const float factor = rsqrtf(squares * n.share + n.epsilon);
#pragma unroll
    for (int k = 0; k < kCols; ++k) {
      values[k] *= factor;
      if (n.scale) values[k] *= to_float(static_cast<const S*>(n.scale)[k]);
      if (n.bias) values[k] += to_float(static_cast<const S*>(n.bias)[k]);
    }
  });
}

}  // namespace kiln
