// C = epilogue(A * B) on tensor cores by mma.sync: FP16 and BF16, or FP32 rounded to TF32; sums in FP32.
// Where splits are more than one, blocks share k and write partial sums, and gemm_reduce ends the work.
#include "gemm/arguments.cuh"
#include "gemm/mma_product.cuh"
#include "gemm/parts.cuh"
#include "gemm/raster.cuh"

namespace kiln {

using ATile = Operand<kTile.bm, kTile.a_k_major>;
using BTile = Operand<kTile.bn, kTile.b_k_major>;

extern "C" __global__ void __launch_bounds__(kThreads) gemm_mma(const __grid_constant__ GemmArguments args) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int tiles_m = (args.m + kTile.bm - 1) / kTile.bm, tiles_n = (args.n + kTile.bn - 1) / kTile.bn,
            per_batch = tiles_m * tiles_n;
  const int split = blockIdx.x % args.splits, index = blockIdx.x / args.splits, batch = index / per_batch;
  const TilePlace place = tile_place(index % per_batch, tiles_m, tiles_n);
  const BatchOffsets at = batch_offsets(args.batches, batch);
  const int row0 = place.m * kTile.bm, column0 = place.n * kTile.bn, rows = args.m - row0, columns = args.n - column0;
  const int all_tiles = (args.k + kTile.bk - 1) / kTile.bk;
  const int first = static_cast<int>(static_cast<long long>(all_tiles) * split / args.splits);
  const int last = static_cast<int>(static_cast<long long>(all_tiles) * (split + 1) / args.splits);
  // Lines of a tile: rows or columns of the matrix, or its k's, whichever are not contiguous.
  const long long a_pitch = kTile.a_k_major ? args.a_row : args.a_k,
                  b_pitch = kTile.b_k_major ? args.b_column : args.b_k;
  const Element* a = args.a + at.a + row0 * args.a_row;
  const Element* b = args.b + at.b + column0 * args.b_column;
  pdl_wait();
  Sums sums = {};
  mma_product<ATile, BTile>(sums, shared_address(shared), last - first, [&](unsigned stage, int tile) {
    const int k = (first + tile) * kTile.bk, left = args.k - k;
    if constexpr (kTile.a_k_major)
      ATile::copy<kThreads, kTile.a_piece>(stage, a + k, a_pitch, rows, left);
    else
      ATile::copy<kThreads, kTile.a_piece>(stage, a + k * a_pitch, a_pitch, left, rows);
    if constexpr (kTile.b_k_major)
      BTile::copy<kThreads, kTile.b_piece>(stage + ATile::kBytes, b + k, b_pitch, columns, left);
    else
      BTile::copy<kThreads, kTile.b_piece>(stage + ATile::kBytes, b + k * b_pitch, b_pitch, left, columns);
  });
  pdl_launch();
  for_each_sum(sums, shared, rows, columns, [&](float(&x)[kTile.vec], int row, int column) {
    if constexpr (kTile.splits > 1)
      store_part(args, x, split, gridDim.x / args.splits / per_batch, batch, row0 + row, column0 + column);
    else
      finish(args, x, at.c, row0 + row, column0 + column);
  });
}

}  // namespace kiln
