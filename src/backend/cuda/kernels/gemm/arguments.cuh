// The arguments of every matrix product kernel. The prelude has Element (of A and B), Result (of C) and Epilogue.
#pragma once
#include "gemm/batch.cuh"
#include "gemm/vectors.cuh"

namespace kiln {

using GemmArguments = cuda::GemmArgumentsOf<Element, Result, Epilogue>;

/// Applies the epilogue to a vector of C, whose batch begins at `c`, and writes it.
template <int V>
__device__ __forceinline__ void finish(const GemmArguments& args, float (&x)[V], long long c, int row, int column) {
  const long long index = c + row * args.c_row + column;
  args.epilogue.apply(x, index, column);
  store_vector(args.c + index, x);
}

}  // namespace kiln
