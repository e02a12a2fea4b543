// The kernel behind one whose blocks share k by way of memory.
#pragma once
#include "conv/arguments.cuh"
#include "gemm/add_parts.cuh"

namespace kiln {

/// Adds the partial sums in the order of the splits. A thread a vector of y.
extern "C" __global__ void __launch_bounds__(256)
    conv_reduce(const __grid_constant__ ConvArguments args, long long vectors) {
  pdl_wait();
  const long long vector = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (vector >= vectors) return;
  float x[kTile.vec] = {};
  add_parts(x, args, vectors, vector);
  const int per_row = args.groups * args.out_channels / kTile.vec;
  finish(args, x, static_cast<int>(vector / per_row), static_cast<int>(vector % per_row) * kTile.vec);
}

}  // namespace kiln
