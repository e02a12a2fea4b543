// The parameters that all normalisation kernels share.
#pragma once

#include "backend/cuda/kernels/lanes/arguments.h"
#include "device.cuh"
#include "nest/walk.cuh"

namespace kiln {

using Normalization = cuda::NormalizationArgument;

/// In place of the type of bytes: kernels that write y alone.
struct NoBytes {};
template <class Q>
inline constexpr bool kQuantizes = true;
template <>
inline constexpr bool kQuantizes<NoBytes> = false;

/// Writes results to y from element `at` on; with bytes of Q to q, and to y where there is one.
template <class T, class Q, int kVec>
__device__ __forceinline__ void put_results(const Normalization& n, int64_t at, const Vec<float, kVec>& result) {
  if (!kQuantizes<Q> || n.y) store_floats<T, kVec>(static_cast<T*>(n.y) + at, result);
  if constexpr (kQuantizes<Q>) {
    Vec<float, kVec> scaled;
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
      scaled.at[e] = result.at[e] * n.q_inverse;
      if (kIsByte<Q>) scaled.at[e] = rintf(scaled.at[e]) + n.q_zero;
    }
    store_floats<Q, kVec>(static_cast<Q*>(n.q) + at, scaled);
  }
}

}  // namespace kiln
