// Sorts items in shared memory.
#pragma once

#include "device.cuh"

namespace kiln {

/// Sorts each of the segments of `padded` items, a power of two, that `count` items are.
template <class I>
__device__ __forceinline__ void sort_segments(I* items, uint32_t count, uint32_t padded) {
  for (uint32_t size = 2; size <= padded; size *= 2)
    for (uint32_t step = size / 2; step > 0; step /= 2) {
      for (uint32_t pair = threadIdx.x; pair < count / 2; pair += blockDim.x) {
        const uint32_t a = 2 * pair - (pair & (step - 1)), b = a + step;
        const bool ascends = (a & (padded - 1) & size) == 0;
        const I first = items[a], second = items[b];
        if ((second < first) == ascends) items[a] = second, items[b] = first;
      }
      __syncthreads();
    }
}

}  // namespace kiln
