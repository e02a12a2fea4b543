// Chooses the tiles of pixels by out channels that a block works on: one after another, or, with SPLIT, the blocks of a
// cluster share a tile's k. Defines: BM BN SPLIT, those of conv/arguments.cuh.
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
    tiles_m = (args.pixels + BM - 1) / BM;
    tiles_n = (args.out_channels + BN - 1) / BN;
    first = steps * rank / SPLIT;
    last = steps * (rank + 1) / SPLIT;
  }
  template <class Use>
  __device__ __forceinline__ void for_each_tile(const Use& use) const {
    for (int t = blockIdx.x / SPLIT; t < tiles_m * tiles_n; t += gridDim.x / SPLIT)
      use(tile_place(t, tiles_m, tiles_n));
  }
};

}  // namespace kiln
