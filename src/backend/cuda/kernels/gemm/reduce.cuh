// The kernel behind one whose blocks share k by way of memory.
#pragma once
#include "gemm/add_parts.cuh"
#include "gemm/arguments.cuh"

namespace kiln {

/// Adds the partial sums in the order of the splits. A thread a vector of C.
extern "C" __global__ void __launch_bounds__(256)
    gemm_reduce(const __grid_constant__ GemmArguments args, long long vectors) {
  pdl_wait();
  const long long vector = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (vector >= vectors) return;
  float x[kTile.vec] = {};
  add_parts(x, args, vectors, vector);
  const int per_row = args.n / kTile.vec, column = static_cast<int>(vector % per_row) * kTile.vec;
  const long long line = vector / per_row;
  const BatchOffsets at = batch_offsets(args.batches, static_cast<int>(line / args.m));
  finish(args, x, at.c, static_cast<int>(line % args.m), column);
}

}  // namespace kiln
