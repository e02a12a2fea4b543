// Convolution on sm_90a as a product without a copy of its input, channels last, one group: four warps gather pixels
// into stages, the copy engine brings the weights, groups of four warps multiply. Blocks stay and take tile after tile;
// with splits the blocks of a cluster share one tile's k instead and end a share of its columns each. A group of warps
// has 64 rows. The prelude has wgmma().
#include "conv/arguments.cuh"
#include "conv/pixel_lines.cuh"
#include "conv/work.cuh"
#include "gemm/exchange.cuh"
#include "gemm/slab.cuh"
#include "gemm/stage.cuh"
#include "gemm/tile.cuh"

namespace kiln {

using ATile = Tile<Element, kTile.bm, kTile.bk,
                   true>;  // swizzled as wgmma has it: lines of 128 bytes, stages at multiples of 1024
constexpr int kGroups = kTile.bm / 64, kMultipliers = 128 * kGroups, kLoaders = 128, kThreads = kMultipliers + kLoaders;
constexpr int kStep = kTile.bk, kBytesA = kTile.bm * 128, kBytesB = kTile.bn * 128, kBlocks = kTile.bn / 8;
constexpr int kPart = 32;  ///< columns of a slab
using Exchanged = Exchange<kTile.splits, kBlocks, kMultipliers>;

__device__ __forceinline__ int num_steps(const ConvArguments& args) {
  const Window& w = args.window;
  return (w.kernel[0] * w.kernel[1] * w.kernel[2] * args.in_channels + kStep - 1) / kStep;
}

/// Brings the weights of a stage.
__device__ __forceinline__ void copy_weights(const TensorMap* map_w, unsigned shared, unsigned full, int stage, int k,
                                             int column) {
  expect_bytes(full + 8 * stage, kBytesB);
  copy_box(shared + stage * (kBytesA + kBytesB) + kBytesA, map_w, full + 8 * stage, k * kStep, column, 0);
}

/// The weights of the ring's first turn: constants, which need not wait for the kernel in front.
__device__ __forceinline__ int begin_weights(const TensorMap* map_w, const Work& work, unsigned shared, unsigned full) {
  const int ahead = min(kTile.stages, work.last - work.first), tile = blockIdx.x / kTile.splits;
  if (threadIdx.x == 0)
    for (int i = 0; i < ahead; ++i)
      copy_weights(map_w, shared, full, i, work.first + i, tile_place(tile, work.tiles_m, work.tiles_n).n * kTile.bn);
  return ahead;
}

/// A stage is full when its weights and every loader's pixels have arrived. Loaders wait for neither.
__device__ __forceinline__ void feed(const TensorMap* map_w, const ConvArguments& args, const Work& work,
                                     unsigned shared, unsigned full, unsigned empty, int begun) {
  Stage stage(1);
  work.for_each_tile([&](TilePlace place) {
    PixelLines<ATile, kLoaders> lines(args, place.m * kTile.bm, work.first * kStep);
    for (int k = work.first; k < work.last; ++k, stage.advance()) {
      wait_barrier(empty + 8 * stage.at, stage.parity);
      if (threadIdx.x == 0 && begun <= 0) copy_weights(map_w, shared, full, stage.at, k, place.n * kTile.bn);
      --begun;
      lines.copy(shared + stage.at * (kBytesA + kBytesB), args.x, k * kStep);
      if (kTile.piece == 2)  // copied at once
        arrive(full + 8 * stage.at);
      else
        arrive_when_copied(full + 8 * stage.at);
    }
  });
}

__device__ __forceinline__ void multiply_tile(float (&sums)[kBlocks][4], int steps, Stage& stage, unsigned shared,
                                              unsigned full, unsigned empty, int group) {
  int before = -1;
  for (int k = 0; k < steps; ++k, stage.advance()) {
    wait_barrier(full + 8 * stage.at, stage.parity);
    see_copies();
    const unsigned a = shared + stage.at * (kBytesA + kBytesB);
    const unsigned long long da = tile_descriptor(a + group * 64 * 128), db = tile_descriptor(a + kBytesA);
    begin_wgmma();
#pragma unroll
    for (int j = 0; j < 4; ++j) wgmma(sums, da + 2 * j, db + 2 * j, (k | j) != 0);
    commit_wgmma();
    wait_wgmma<1>();
    if (before >= 0 && threadIdx.x % 128 == 0) arrive(empty + 8 * before);
    before = stage.at;
  }
  wait_wgmma<0>();
  settle<Element, kTile.narrow_sums>(sums);
  if (before >= 0 && threadIdx.x % 128 == 0) arrive(empty + 8 * before);
}

template <int kColumns>
__device__ __forceinline__ void write(const ConvArguments& args, float (&sums)[kColumns / 8][4], Slab<kColumns>& slab,
                                      int row, int column) {
  slab.fill(sums);
  slab.for_each(args.pixels - row, args.out_channels - column,
                [&](float(&x)[kTile.vec], int i, int j) { finish(args, x, row + i, column + j); });
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    conv_wgmma(const __grid_constant__ TensorMap map_w, const __grid_constant__ ConvArguments args) {
  extern __shared__ __align__(1024) unsigned char raw[];
  __shared__ alignas(8) unsigned long long barriers[2 * kTile.stages];
  const unsigned shared = (shared_address(raw) + 1023) & ~1023u;
  unsigned char* behind = raw + (shared - shared_address(raw)) + kTile.stages * (kBytesA + kBytesB);
  const unsigned full = shared_address(barriers), empty = full + 8 * kTile.stages;
  if (threadIdx.x == 0) {
    prefetch_map(&map_w);
    for (int i = 0; i < kTile.stages; ++i) {
      init_barrier(full + 8 * i, kLoaders + 1);
      init_barrier(empty + 8 * i, kGroups);
    }
    publish_barriers();
  }
  __syncthreads();
  const Work work(args, kTile.splits == 1 ? 0 : cluster_rank());
  pdl_launch();  // these blocks are few, and stay
  const int begun = begin_weights(&map_w, work, shared, full);
  pdl_wait();
  const int thread = static_cast<int>(threadIdx.x) - kLoaders, group = thread / 128, warp = thread / 32;
  if constexpr (kTile.splits == 1) {
    if (threadIdx.x < kLoaders) {
      leave_registers<kGroups == 2 ? 88 : 104>();
      feed(&map_w, args, work, shared, full, empty, begun);
    } else {
      take_registers<kGroups == 2 ? 208 : 240>();
      auto& slab = reinterpret_cast<Slab<kPart>*>(behind)[warp];
      Stage stage(0);
      work.for_each_tile([&](TilePlace place) {
        float sums[kBlocks][4];
        multiply_tile(sums, work.last, stage, shared, full, empty, group);
#pragma unroll
        for (int part = 0; part < kTile.bn / kPart; ++part)
          write<kPart>(args, reinterpret_cast<float(&)[kPart / 8][4]>(sums[part * (kPart / 8)]), slab,
                       place.m * kTile.bm + warp * 16, place.n * kTile.bn + part * kPart);
      });
    }
  } else {
    float sums[kBlocks][4], own[Exchanged::kOwn][4];
    if (threadIdx.x < kLoaders) {
      feed(&map_w, args, work, shared, full, empty, begun);
      __syncwarp();
    } else {
      Stage stage(0);
      multiply_tile(sums, work.last - work.first, stage, shared, full, empty, group);
    }
    auto& received = *reinterpret_cast<Exchanged::Received*>(behind);
    Exchanged::run(sums, own, received, work.rank, thread < 0 ? kMultipliers : thread);
    if (thread < 0) return;
    constexpr int kColumns = Exchanged::kOwn * 8;
    auto& slab = reinterpret_cast<Slab<kColumns>*>(behind + sizeof(Exchanged::Received))[warp];
    work.for_each_tile([&](TilePlace place) {
      write<kColumns>(args, own, slab, place.m * kTile.bm + warp * 16, place.n * kTile.bn + work.rank * kColumns);
    });
  }
}

}  // namespace kiln
