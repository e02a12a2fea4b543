// The inner product on tensor cores (mma.sync): copies of the next tiles run while this one is multiplied. FP32
// elements are multiplied in TF32.
#pragma once
#include "gemm/slab.cuh"
#include "gemm/tile.cuh"

namespace kiln {

constexpr int kThreads = kTile.warps_m * kTile.warps_n * 32;
constexpr int kWarpM = kTile.bm / kTile.warps_m, kWarpN = kTile.bn / kTile.warps_n, kBlocksM = kWarpM / 16,
              kBlocksN = kWarpN / 8;
constexpr int kSteps = kTile.bk * sizeof(Element) / 32;
static_assert(kWarpM % 16 == 0 && kWarpN % 16 == 0 && kSteps >= 1, "a warp multiplies whole blocks");

/// The tile of an operand of kExtent rows or columns.
template <int kExtent, bool kKMajor>
using Operand = Tile<Element, kKMajor ? kExtent : kTile.bk, kKMajor ? kTile.bk : kExtent, kKMajor>;

/// A warp's sums. Layout: at[i][j] is the block of rows i * 16 and columns j * 8 of the warp's tile, see multiply().
struct Sums {
  float at[kBlocksM][kBlocksN][4];
};

template <class ATile, class BTile>
__device__ __forceinline__ void multiply_stage(Sums& sums, unsigned stage, int warp_row, int warp_column) {
  unsigned a[2][kBlocksM][4], b[2][kBlocksN / 2][4];
  const auto load = [&](int step) {
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i)
      load_a<Element, ATile, ATile::kAlongK>(a[step & 1][i], stage, warp_row + i * 16, step);
#pragma unroll
    for (int j = 0; j < kBlocksN / 2; ++j)
      load_b<Element, BTile, BTile::kAlongK>(b[step & 1][j], stage + ATile::kBytes, warp_column + j * 16, step);
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
                 Element{});
  }
}

/// Sums of tiles [0, tiles). copy(stage address, tile) starts the copies of a tile; it is called for each tile in
/// order.
template <class ATile, class BTile, class Copy>
__device__ __forceinline__ void mma_product(Sums& sums, unsigned shared, int tiles, Copy&& copy) {
  constexpr int kStageBytes = ATile::kBytes + BTile::kBytes;
  const int warp = threadIdx.x / 32, warp_row = warp / kTile.warps_n * kWarpM,
            warp_column = warp % kTile.warps_n * kWarpN;
#pragma unroll
  for (int i = 0; i < kTile.stages - 1; ++i) {
    if (i < tiles) copy(shared + i * kStageBytes, i);
    commit_copies();
  }
  int stage = 0, next = kTile.stages - 1;
  for (int tile = 0; tile < tiles; ++tile) {
    wait_for_copies<kTile.stages - 2>();
    __syncthreads();  // everyone's copies of this tile are here, and everyone is done with the stage filled next
    if (tile + kTile.stages - 1 < tiles) copy(shared + next * kStageBytes, tile + kTile.stages - 1);
    commit_copies();
    multiply_stage<ATile, BTile>(sums, shared + stage * kStageBytes, warp_row, warp_column);
    stage = stage + 1 == kTile.stages ? 0 : stage + 1;
    next = next + 1 == kTile.stages ? 0 : next + 1;
  }
  wait_for_copies<0>();
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kBlocksM; ++i) make_floats<Element, kTile.narrow_sums>(sums.at[i]);
}

/// Calls use(values, row, column) for every vector of the block's sums within `rows` and `columns` of its tile.
template <class Use>
__device__ __forceinline__ void for_each_sum(const Sums& sums, unsigned char* shared, int rows, int columns,
                                             const Use& use) {
  const int warp = threadIdx.x / 32, warp_row = warp / kTile.warps_n * kWarpM,
            warp_column = warp % kTile.warps_n * kWarpN;
  Slab<kWarpN>& slab = reinterpret_cast<Slab<kWarpN>*>(shared)[warp];
#pragma unroll
  for (int i = 0; i < kBlocksM; ++i) {
    slab.fill(sums.at[i]);
    const int row0 = warp_row + i * 16;
    slab.for_each(rows - row0, columns - warp_column,
                  [&](float(&x)[kTile.vec], int row, int column) { use(x, row0 + row, warp_column + column); });
  }
}

}  // namespace kiln
