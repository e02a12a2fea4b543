// The arguments of every matrix product kernel. The prelude has Element (of A and B), Result (of C) and Epilogue.
#pragma once
#include "gemm/batch.cuh"
#include "gemm/vectors.cuh"

namespace kiln {

using GemmArguments = cuda::GemmArgumentsOf<Element, Result, Epilogue>;

constexpr int kColumnsOfResult = kTile.pairs ? 2 : 1;  ///< of a gated product two

/// Writes a vector of results, or of numbers of which neighbours make one.
template <int V>
__device__ __forceinline__ void store_results(Result* to, const float (&x)[V]) {
  if constexpr (kTile.pairs) {
    float y[V / 2];
#pragma unroll
    for (int v = 0; v < V / 2; ++v) y[v] = epilogue_gate(x[2 * v], x[2 * v + 1]);
    store_vector(to, y);
  } else {
    store_vector(to, x);
  }
}
/// Applies the epilogue to a vector of columns, of a batch whose results begin at `c`, and writes what comes of it.
template <int V>
__device__ __forceinline__ void finish(const GemmArguments& args, float (&x)[V], long long c, int row, int column) {
  const long long index = c + row * args.c_row + column / kColumnsOfResult;
  args.epilogue.apply(x, index, column);
  store_results(args.c + index, x);
}

}  // namespace kiln
