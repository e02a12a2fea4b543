// The sums over splits of k that went through memory, in the order of the splits, so that bits never change.
#pragma once
#include "gemm/vectors.cuh"

namespace kiln {

/// x += the vector of that index among the `vectors` of each split. `args` are those of a product or convolution.
template <int V, class Arguments>
__device__ __forceinline__ void add_parts(float (&x)[V], const Arguments& args, long long vectors, long long vector) {
  for (int split = 0; split < args.splits; ++split) {
    float part[V];
    load_vector(part, args.partial + (split * vectors + vector) * V);
#pragma unroll
    for (int v = 0; v < V; ++v) x[v] += part[v];
  }
}

}  // namespace kiln
