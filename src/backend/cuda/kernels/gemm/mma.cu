// C = epilogue(A * B) on tensor cores by mma.sync: FP16 and BF16, or FP32 rounded to TF32; sums in FP32.
// Defines: those of mma_product.cuh and slab.cuh, A_PIECE B_PIECE (bytes that are aligned and wholly inside or
// outside), SPLIT (1: blocks share k, write partial sums, and gemm_reduce ends the work), and those of arguments.cuh.
#include "gemm/arguments.cuh"
#include "gemm/mma_product.cuh"
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
    const long long batches = gridDim.x / args.splits / per_batch;
    const long long line = (split * batches + batch) * args.m + row0 + row;
    store_vector(args.partial + line * args.n + column0 + column, x);
#else
    finish(args, x, at.c, row0 + row, column0 + column);
#endif
  });
}

#if SPLIT
/// Adds the partial sums in the order of the splits. A thread a vector of C.
extern "C" __global__ void __launch_bounds__(256)
    gemm_reduce(const __grid_constant__ GemmArguments args, long long vectors) {
  pdl_wait();
  const long long vector = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (vector >= vectors) return;
  float x[VEC] = {};
  for (int split = 0; split < args.splits; ++split) {
    float part[VEC];
    load_vector(part, args.partial + (split * vectors + vector) * VEC);
#pragma unroll
    for (int v = 0; v < VEC; ++v) x[v] += part[v];
  }
  const int per_row = args.n / VEC, column = static_cast<int>(vector % per_row) * VEC;
  const long long line = vector / per_row;
  const BatchOffsets at = batch_offsets(args.batches, static_cast<int>(line / args.m));
  finish(args, x, at.c, static_cast<int>(line % args.m), column);
}
#endif

}  // namespace kiln
