// C = epilogue(A * B) by plain FMA: exact in FP32, for any strides, extents and element types. A batch of tiles a grid.
#include "gemm/parts.cuh"
#include "gemm/simt_tile.cuh"

namespace kiln {

extern "C" __global__ void __launch_bounds__(kThreads) gemm_simt(const __grid_constant__ GemmArguments args) {
  __shared__ SharedTiles tiles;
  pdl_wait();
  const int tiles_n = (args.n + kTile.bn - 1) / kTile.bn, tiles_m = (args.m + kTile.bm - 1) / kTile.bm;
  const int split = blockIdx.x % args.splits, tile = blockIdx.x / args.splits;
  const int tile_n = tile % tiles_n, tile_m = tile / tiles_n % tiles_m, batch = tile / tiles_n / tiles_m;
  const BatchOffsets at = batch_offsets(args.batches, batch);
  const int row0 = tile_m * kTile.bm, column0 = tile_n * kTile.bn;
  const Element* a = args.a + at.a + row0 * args.a_row;
  const Element* b = args.b + at.b + column0 * args.b_column;
  const int rows = args.m - row0, columns = args.n - column0;
  const auto load_a = [&](int row, int k) { return row < rows ? to_float(a[row * args.a_row + k * args.a_k]) : 0.f; };
  const auto load_b = [&](int column, int k) {
    return column < columns ? to_float(b[column * args.b_column + k * args.b_k]) : 0.f;
  };
  float sum[kTile.tm][kTile.tn] = {};
  const int steps = (args.k + kTile.bk - 1) / kTile.bk;
  const int first = static_cast<int>(static_cast<long long>(steps) * split / args.splits) * kTile.bk;
  const int last = min(static_cast<int>(static_cast<long long>(steps) * (split + 1) / args.splits) * kTile.bk, args.k);
  simt_product<kTile.a_k_major, kTile.b_k_major>(sum, tiles, first, last, load_a, load_b);
  pdl_launch();
  const int y = threadIdx.x / (kTile.bn / kTile.tn), x = threadIdx.x % (kTile.bn / kTile.tn);
#pragma unroll
  for (int i = 0; i < kTile.tm; ++i)
#pragma unroll
    for (int j = 0; j < kTile.tn; ++j) {
      const int row = row0 + y * kTile.tm + i, column = column0 + x * kTile.tn + j;
      if (row >= args.m || column >= args.n) continue;
      float value[1] = {sum[i][j]};
      if constexpr (kTile.splits > 1)
        store_part(args, value, split, gridDim.x / args.splits / (tiles_n * tiles_m), batch, row, column);
      else
        finish(args, value, at.c, row, column);
    }
}

}  // namespace kiln
