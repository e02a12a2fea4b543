// Partial sums of blocks that share k, in memory, and the kernel that adds them.
// Defines: SPLIT (1: there are such), VEC (columns a vector; divides the columns), those of arguments.cuh.
#pragma once
#include "gemm/add_parts.cuh"
#include "gemm/arguments.cuh"

namespace kiln {

/// Keeps a vector of the partial sums of one split.
template <int V>
__device__ __forceinline__ void store_part(const GemmArguments& args, const float (&x)[V], int split, int batches,
                                           int batch, int row, int column) {
  const long long line = (static_cast<long long>(split) * batches + batch) * args.m + row;
  store_vector(args.partial + line * args.n + column, x);
}

#if SPLIT
/// Adds the partial sums in the order of the splits. A thread a vector of C.
extern "C" __global__ void __launch_bounds__(256)
    gemm_reduce(const __grid_constant__ GemmArguments args, long long vectors) {
  pdl_wait();
  const long long vector = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (vector >= vectors) return;
  float x[VEC] = {};
  add_parts(x, args, vectors, vector);
  const int per_row = args.n / VEC, column = static_cast<int>(vector % per_row) * VEC;
  const long long line = vector / per_row;
  const BatchOffsets at = batch_offsets(args.batches, static_cast<int>(line / args.m));
  finish(args, x, at.c, static_cast<int>(line % args.m), column);
}
#endif

}  // namespace kiln
