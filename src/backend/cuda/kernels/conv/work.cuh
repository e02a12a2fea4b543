// Chooses the tiles of pixels by out channels that a block works on: one after another, or, with splits, the blocks of
// a cluster share a tile's k.
#pragma once
#include "conv/arguments.cuh"
#include "gemm/raster.cuh"

namespace kiln {

/// Steps of k of a tile: the kernel's own.
__device__ __forceinline__ int num_steps(const ConvArguments& args);

/// The block's tiles, and its share of their steps of k.
struct Work {
  int tiles_m, tiles_n, first, last, rank;
  __device__ Work(const ConvArguments& args, int rank) : rank(rank) {
    const int steps = num_steps(args);
    tiles_m = (args.pixels + kTile.bm - 1) / kTile.bm;
    tiles_n = (args.out_channels + kTile.bn - 1) / kTile.bn;
    first = steps * rank / kTile.splits;
    last = steps * (rank + 1) / kTile.splits;
  }
  template <class Use>
  __device__ __forceinline__ void for_each_tile(const Use& use) const {
    for (int t = blockIdx.x / kTile.splits; t < tiles_m * tiles_n; t += gridDim.x / kTile.splits)
      use(tile_place(t, tiles_m, tiles_n));
  }
};

}  // namespace kiln
