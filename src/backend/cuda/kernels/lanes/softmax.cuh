// Softmax along rows of any length.
#pragma once

#include "device.cuh"

namespace kiln {

/// exp(x - peak): of 0 where x is -infinity beside a finite peak.
__device__ __forceinline__ float exp_from(float x, float peak) { return ::expf(x - peak); }

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
