// What every kernel of matrix products is given. Defines: ELEMENT (of A and B), RESULT (of C). The prelude has
// Epilogue.
#pragma once
#include "gemm/batch.cuh"
#include "gemm/vectors.cuh"

namespace kiln {

/// Element (i, l) of A lies at i * a_row + l * a_k, (l, j) of B at j * b_column + l * b_k, (i, j) of C at i * c_row +
/// j. The host's struct of the same name (gemm/gemm.h) has this layout.
struct GemmArguments {
  const ELEMENT* a;
  const ELEMENT* b;
  RESULT* c;
  float* partial;  ///< [split][batch][m][n]
  Epilogue epilogue;
  long long a_row, a_k, b_column, b_k, c_row;
  int m, n, k, splits;
  Batches batches;
};

/// Ends a vector of C, whose batch begins at `c`.
template <int V>
__device__ __forceinline__ void finish(const GemmArguments& args, float (&x)[V], long long c, int row, int column) {
  const long long index = c + row * args.c_row + column;
  args.epilogue.apply(x, index, column);
  store_vector(args.c + index, x);
}

}  // namespace kiln
