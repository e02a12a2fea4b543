// Running sums over the threads of a block.
#pragma once

#include "device.cuh"

namespace kiln {

/// The sum of the values of threads before this one; `total` becomes that of all. `scratch` has one a thread.
template <class A>
__device__ __forceinline__ A sum_before(A value, A& total, A* scratch) {
  const uint32_t at = threadIdx.x;
  scratch[at] = value;
  __syncthreads();
  for (uint32_t step = 1; step < blockDim.x; step *= 2) {
    const A more = at >= step ? scratch[at - step] : A(0);
    __syncthreads();
    scratch[at] += more;
    __syncthreads();
  }
  total = scratch[blockDim.x - 1];
  const A before = at > 0 ? scratch[at - 1] : A(0);
  __syncthreads();
  return before;
}

}  // namespace kiln
