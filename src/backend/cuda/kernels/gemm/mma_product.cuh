// The inner product on tensor cores (mma.sync): copies of the next tiles run while this one is multiplied.
// Defines: ELEMENT (float: TF32), BM BN BK, WARPS_M WARPS_N (how warps share the block's tile), STAGES (tiles in shared
// memory), A_K_MAJOR B_K_MAJOR.
#pragma once
#include "gemm/slab.cuh"
#include "gemm/tile.cuh"

namespace kiln {

constexpr int kThreads = WARPS_M * WARPS_N * 32;
constexpr int kWarpM = BM / WARPS_M, kWarpN = BN / WARPS_N, kBlocksM = kWarpM / 16, kBlocksN = kWarpN / 8;
constexpr int kSteps = BK * sizeof(ELEMENT) / 32;
static_assert(kWarpM % 16 == 0 && kWarpN % 16 == 0 && kSteps >= 1, "a warp multiplies whole blocks");

using ATile = Tile<ELEMENT, A_K_MAJOR ? BM : BK, A_K_MAJOR ? BK : BM, A_K_MAJOR>;
using BTile = Tile<ELEMENT, B_K_MAJOR ? BN : BK, B_K_MAJOR ? BK : BN, B_K_MAJOR>;
constexpr int kStageBytes = ATile::kBytes + BTile::kBytes;

/// A warp's sums. Layout: at[i][j] is the block of rows i * 16 and columns j * 8 of the warp's tile, see multiply().
struct Sums {
  float at[kBlocksM][kBlocksN][4];
};

__device__ __forceinline__ void multiply_stage(Sums& sums, unsigned stage, int warp_row, int warp_column) {
  unsigned a[2][kBlocksM][4], b[2][kBlocksN / 2][4];
  const auto load = [&](int step) {
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i)
      load_a<ELEMENT, ATile, A_K_MAJOR>(a[step & 1][i], stage, warp_row + i * 16, step);
#pragma unroll
    for (int j = 0; j < kBlocksN / 2; ++j)
      load_b<ELEMENT, BTile, B_K_MAJOR>(b[step & 1][j], stage + ATile::kBytes, warp_column + j * 16, step);
  };
  load(0);
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    if (step + 1 < kSteps) load(step + 1);
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i)
#pragma unroll
      for (int j = 0; j < kBlocksN; ++j)
        multiply(sums.at[i][j], a[step & 1][i], b[step & 1][j / 2][j % 2 * 2], b[step & 1][j / 2][j % 2 * 2 + 1],
                 ELEMENT{});
  }
}

/// Sums of tiles [0, tiles). copy(stage address, tile) starts the copies of a tile; it is called for each tile in
/// order.
template <class Copy>
__device__ __forceinline__ void mma_product(Sums& sums, unsigned shared, int tiles, Copy&& copy) {
  const int warp = threadIdx.x / 32, warp_row = warp / WARPS_N * kWarpM, warp_column = warp % WARPS_N * kWarpN;
#pragma unroll
  for (int i = 0; i < STAGES - 1; ++i) {
    if (i < tiles) copy(shared + i * kStageBytes, i);
    commit_copies();
  }
  int stage = 0, next = STAGES - 1;
  for (int tile = 0; tile < tiles; ++tile) {
    wait_for_copies<STAGES - 2>();
    __syncthreads();  // everyone's copies of this tile are here, and everyone is done with the stage filled next
    if (tile + STAGES - 1 < tiles) copy(shared + next * kStageBytes, tile + STAGES - 1);
    commit_copies();
    multiply_stage(sums, shared + stage * kStageBytes, warp_row, warp_column);
    stage = stage + 1 == STAGES ? 0 : stage + 1;
    next = next + 1 == STAGES ? 0 : next + 1;
  }
  wait_for_copies<0>();
  __syncthreads();
}

/// Calls use(values, row, column) for every vector of the block's sums within `rows` and `columns` of its tile.
template <class Use>
__device__ __forceinline__ void for_each_sum(const Sums& sums, unsigned char* shared, int rows, int columns,
                                             const Use& use) {
  const int warp = threadIdx.x / 32, warp_row = warp / WARPS_N * kWarpM, warp_column = warp % WARPS_N * kWarpN;
  Slab<kWarpN>& slab = reinterpret_cast<Slab<kWarpN>*>(shared)[warp];
#pragma unroll
  for (int i = 0; i < kBlocksM; ++i) {
    slab.fill(sums.at[i]);
    const int row0 = warp_row + i * 16;
    slab.for_each(rows - row0, columns - warp_column,
                  [&](float(&x)[VEC], int row, int column) { use(x, row0 + row, warp_column + column); });
  }
}

}  // namespace kiln
