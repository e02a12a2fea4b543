// C = epilogue(A * B) on tensor cores by mma.sync: FP16 and BF16, or FP32 rounded to TF32; sums in FP32.
// Defines: those of mma_product.cuh and slab.cuh, A_PIECE B_PIECE (bytes that are aligned and wholly inside or
// outside), SPLIT (1: blocks share k, write partial sums, and gemm_reduce ends the work), and those of arguments.cuh.
#include "gemm/arguments.cuh"
#include "gemm/mma_product.cuh"
#include "gemm/parts.cuh"
#include "gemm/raster.cuh"

namespace kiln {

extern "C" __global__ void __launch_bounds__(kThreads) gemm_mma(const __grid_constant__ GemmArguments args) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int tiles_m = (args.m + BM - 1) / BM, tiles_n = (args.n + BN - 1) / BN, per_batch = tiles_m * tiles_n;
  const int split = blockIdx.x % args.splits, index = blockIdx.x / args.splits, batch = index / per_batch;
  const TilePlace place = tile_place(index % per_batch, tiles_m, tiles_n);
  const BatchOffsets at = batch_offsets(args.batches, batch);
  const int row0 = place.m * BM, column0 = place.n * BN, rows = args.m - row0, columns = args.n - column0;
  const int all_tiles = (args.k + BK - 1) / BK;
  const int first = static_cast<int>(static_cast<long long>(all_tiles) * split / args.splits);
  const int last = static_cast<int>(static_cast<long long>(all_tiles) * (split + 1) / args.splits);
  // Lines of a tile: rows or columns of the matrix, or its k's, whichever are not contiguous.
  const long long a_pitch = A_K_MAJOR ? args.a_row : args.a_k, b_pitch = B_K_MAJOR ? args.b_column : args.b_k;
  const ELEMENT* a = args.a + at.a + row0 * args.a_row;
  const ELEMENT* b = args.b + at.b + column0 * args.b_column;
  pdl_wait();
  Sums sums = {};
  mma_product(sums, shared_address(shared), last - first, [&](unsigned stage, int tile) {
    const int k = (first + tile) * BK, left = args.k - k;
    if constexpr (A_K_MAJOR)
      ATile::copy<kThreads, A_PIECE>(stage, a + k, a_pitch, rows, left);
    else
      ATile::copy<kThreads, A_PIECE>(stage, a + k * a_pitch, a_pitch, left, rows);
    if constexpr (B_K_MAJOR)
      BTile::copy<kThreads, B_PIECE>(stage + ATile::kBytes, b + k, b_pitch, columns, left);
    else
      BTile::copy<kThreads, B_PIECE>(stage + ATile::kBytes, b + k * b_pitch, b_pitch, left, columns);
  });
  pdl_launch();
  for_each_sum(sums, shared, rows, columns, [&](float(&x)[VEC], int row, int column) {
#if SPLIT
    store_part(args, x, split, gridDim.x / args.splits / per_batch, batch, row0 + row, column0 + column);
#else
    finish(args, x, at.c, row0 + row, column0 + column);
#endif
  });
}

}  // namespace kiln
