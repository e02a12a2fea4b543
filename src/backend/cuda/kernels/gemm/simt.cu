// C = epilogue(A * B) by plain FMA: exact in FP32, for any strides, extents and element types. A batch of tiles a grid.
// Defines: those of simt_tile.cuh, parts.cuh and arguments.cuh.
#include "gemm/parts.cuh"
#include "gemm/simt_tile.cuh"

namespace kiln {

extern "C" __global__ void __launch_bounds__(kThreads) gemm_simt(const __grid_constant__ GemmArguments args) {
  __shared__ SharedTiles tiles;
  pdl_wait();
  const int tiles_n = (args.n + BN - 1) / BN, tiles_m = (args.m + BM - 1) / BM;
  const int split = blockIdx.x % args.splits, tile = blockIdx.x / args.splits;
  const int tile_n = tile % tiles_n, tile_m = tile / tiles_n % tiles_m, batch = tile / tiles_n / tiles_m;
  const BatchOffsets at = batch_offsets(args.batches, batch);
  const int row0 = tile_m * BM, column0 = tile_n * BN;
  const ELEMENT* a = args.a + at.a + row0 * args.a_row;
  const ELEMENT* b = args.b + at.b + column0 * args.b_column;
  const int rows = args.m - row0, columns = args.n - column0;
  const auto load_a = [&](int row, int k) { return row < rows ? to_float(a[row * args.a_row + k * args.a_k]) : 0.f; };
  const auto load_b = [&](int column, int k) {
    return column < columns ? to_float(b[column * args.b_column + k * args.b_k]) : 0.f;
  };
  float sum[TM][TN] = {};
  const int steps = (args.k + BK - 1) / BK;
  const int first = static_cast<int>(static_cast<long long>(steps) * split / args.splits) * BK;
  const int last = min(static_cast<int>(static_cast<long long>(steps) * (split + 1) / args.splits) * BK, args.k);
  simt_product(sum, tiles, first, last, load_a, load_b);
  pdl_launch();
  const int y = threadIdx.x / (BN / TN), x = threadIdx.x % (BN / TN);
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int row = row0 + y * TM + i, column = column0 + x * TN + j;
      if (row >= args.m || column >= args.n) continue;
      float value[1] = {sum[i][j]};
#if SPLIT
      store_part(args, value, split, gridDim.x / args.splits / (tiles_n * tiles_m), batch, row, column);
#else
      finish(args, value, at.c, row, column);
#endif
    }
}

}  // namespace kiln
