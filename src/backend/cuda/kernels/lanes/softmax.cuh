// Softmax along rows in registers, and along rows that exceed them.
#pragma once

#include "lanes/row.cuh"

namespace kiln {

/// exp(x - peak): of 0 where x is -infinity beside a finite peak.
__device__ __forceinline__ float exp_from(float x, float peak) { return ::expf(x - peak); }

/// x, y  (rows, cols)
template <class T, int kVec, int kLoads, class Team>
__device__ __forceinline__ void softmax_row(const Team& team, const T* x, T* y, int cols) {
  Row<T, kVec, kLoads> row;
  const float kLeast = __int_as_float(0xff800000);
  row.load(x, cols, team.thread(), team.threads(), kLeast);
  const float peak = team.fold(row.fold(kLeast, Greater()), kLeast, Greater());
  row.map(team.thread(), team.threads(), [=](float e, int col) { return col < cols ? exp_from(e, peak) : 0.0f; });
  const float sum = team.fold(row.fold(0.0f, Plus()), 0.0f, Plus());
  const float share = 1.0f / sum;
  row.map(team.thread(), team.threads(), [=](float e, int) { return e * share; });
  row.store(y, cols, team.thread(), team.threads());
}

/// A warp a row, several rows a block.
template <class T, int kVec, int kLoads>
__device__ __forceinline__ void softmax_warps(const T* x, T* y, int64_t rows, int cols) {
  pdl_wait();
  const int64_t row = int64_t(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  if (row >= rows) return;  // warps leave whole
  softmax_row<T, kVec, kLoads>(WarpTeam(), x + row * cols, y + row * cols, cols);
}

/// A block a row.
template <class T, int kVec, int kLoads>
__device__ __forceinline__ void softmax_block(const T* x, T* y, int64_t rows, int cols) {
  __shared__ float scratch[kWarp];
  pdl_wait();
  const int64_t row = blockIdx.x;
  softmax_row<T, kVec, kLoads>(BlockTeam{scratch}, x + row * cols, y + row * cols, cols);
}

/// The running peak of a part of a row, and the sum of exp(x - peak).
struct Partial {
  float peak, sum;
  __device__ __forceinline__ void add(float x) {
    if (x > peak || x != x) {
      sum = peak == x ? sum : sum * ::expf(peak - x);
      peak = x;
      sum += 1 + (x - x);  // NaN of an infinity, as exp(x - peak) is
    } else {
      sum += peak == __int_as_float(0xff800000) ? 0 : ::expf(x - peak);
    }
  }
  /// The sum as it is under a peak that is at least as large.
  __device__ __forceinline__ float under(float greater) const {
    return peak == __int_as_float(0xff800000) && greater == greater ? 0 : sum * ::expf(peak - greater);
  }
};

/// Rows of any length: one walk for peak and sum, another for the result.
template <class T>
__device__ __forceinline__ void softmax_long(const T* x, T* y, int64_t, int64_t cols) {
  __shared__ float scratch[kWarp];
  pdl_wait();
  const float kLeast = __int_as_float(0xff800000);
  const T* from = x + int64_t(blockIdx.x) * cols;
  T* to = y + int64_t(blockIdx.x) * cols;
  Partial part{kLeast, 0};
  for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) part.add(to_float(from[i]));
  const float peak = block_fold(part.peak, kLeast, Greater(), scratch);
  const float share = 1.0f / block_fold(part.under(peak), 0.0f, Plus(), scratch);
  for (int64_t i = threadIdx.x; i < cols; i += blockDim.x)
    to[i] = from_float<T>(exp_from(to_float(from[i]), peak) * share);
}

}  // namespace kiln

#define KILN_SOFTMAX_WARPS(entry, T, vec, loads)                                                          \
  extern "C" __global__ void __launch_bounds__(256) entry(const T* x, T* y, int64_t rows, int64_t cols) { \
    kiln::softmax_warps<T, vec, loads>(x, y, rows, int(cols));                                            \
  }
#define KILN_SOFTMAX_BLOCK(entry, T, vec, loads)                                                           \
  extern "C" __global__ void __launch_bounds__(1024) entry(const T* x, T* y, int64_t rows, int64_t cols) { \
    kiln::softmax_block<T, vec, loads>(x, y, rows, int(cols));                                             \
  }
#define KILN_SOFTMAX_LONG(entry, T)                                                                        \
  extern "C" __global__ void __launch_bounds__(1024) entry(const T* x, T* y, int64_t rows, int64_t cols) { \
    kiln::softmax_long<T>(x, y, rows, cols);                                                               \
  }
