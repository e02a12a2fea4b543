// Partial sums of blocks that share k, in memory.
#pragma once
#include "gemm/arguments.cuh"

namespace kiln {

/// Keeps a vector of the partial sums of one split.
template <int V>
__device__ __forceinline__ void store_part(const GemmArguments& args, const float (&x)[V], int split, int batches,
                                           int batch, int row, int column) {
  const long long line = (static_cast<long long>(split) * batches + batch) * args.m + row;
  store_vector(args.partial + line * args.n + column, x);
}

}  // namespace kiln
