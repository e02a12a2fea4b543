// Softmax along rows in registers.
#pragma once

#include "lanes/row.cuh"

namespace kiln {

template <class T>
inline constexpr bool kIsF16 = false;
template <>
inline constexpr bool kIsF16<f16> = true;

/// exp(x - peak) for all x of a row: of 0 where x is -infinity beside a finite peak. For halves the hardware's power of
/// two is exact enough; products with numbers as large as those of f16 lose nothing that matters before the difference.
template <class T>
struct ExpFrom {
  float peak;
  __device__ __forceinline__ float operator()(float x) const {
    if constexpr (sizeof(T) == 4) return ::expf(x - peak);
    constexpr float kLog2OfE = 1.44269504f;
    const float power = kIsF16<T> ? x * kLog2OfE - peak * kLog2OfE : (x - peak) * kLog2OfE;
    return power_of_two(power);
  }
};

template <class T>
__device__ __forceinline__ float share_of(float sum) {
  if constexpr (sizeof(T) == 4) return 1.0f / sum;
  return reciprocal(sum);
}

/// A row of x, y  (rows, cols) a team.
template <class T, int kVec, int kLoads, class Team>
__device__ __forceinline__ void softmax_row(const Team& team, const T* x, T* y, int64_t rows, int cols) {
  constexpr int kCount = kLoads * kVec;
  const float kLeast = __int_as_float(0xff800000);
  const int64_t at = team.first();
  if (at >= rows) return;  // teams leave whole
  pdl_wait();
  Row<T, kVec, kLoads> row;
  row.load(x + at * cols, cols, team.thread(), team.threads(), kLeastBits<T>);
  float values[kCount], peak = row[0], sum = 0;
#pragma unroll
  for (int k = 1; k < kCount; ++k) peak = greater(peak, row[k]);
  const ExpFrom<T> exp_from{team.template fold<0>(peak, kLeast, Greater())};
#pragma unroll
  for (int k = 0; k < kCount; ++k) sum += values[k] = exp_from(row[k]);
  const float share = share_of<T>(team.template fold<1>(sum, 0.0f, Plus()));
#pragma unroll
  for (int k = 0; k < kCount; ++k) values[k] *= share;
  row.store(y + at * cols, cols, team.thread(), team.threads(), values);
}

/// A warp a row, several rows a block.
template <class T, int kVec, int kLoads>
__device__ __forceinline__ void softmax_warp(const T* x, T* y, int64_t rows, int cols) {
  pdl_launch();
  softmax_row<T, kVec, kLoads>(WarpTeam(), x, y, rows, cols);
}
/// A block a row.
template <class T, int kVec, int kLoads>
__device__ __forceinline__ void softmax_block(const T* x, T* y, int64_t rows, int cols) {
  __shared__ float scratch[2 * kWarp];
  pdl_launch();
  softmax_row<T, kVec, kLoads>(BlockTeam{scratch}, x, y, rows, cols);
}

}  // namespace kiln
