// C = epilogue(A * B^T) on sm_90a: one warp feeds the copy engine, groups of four warps multiply, blocks stay and take
// tile after tile. Both operands lie along k.
// Defines: BM BN STAGES, TURNS (1: groups share a tile, 64 rows each; 2: two groups take tiles in turns, one ends its
// sums while the other multiplies), CLUSTER (blocks along m that share B), VEC, those of arguments.cuh. The prelude has
// wgmma().
#include "gemm/arguments.cuh"
#include "gemm/raster.cuh"
#include "gemm/slab.cuh"
#include "gemm/stage.cuh"
#include "ptx/hopper.cuh"

namespace kiln {

constexpr int kGroups = TURNS == 1 ? BM / 64 : 2, kThreads = 128 * (kGroups + 1);
constexpr int kBands = TURNS == 1 ? 1 : BM / 64;  ///< of 64 rows, that a group multiplies
constexpr int kStep = 128 / sizeof(ELEMENT);      ///< elements of k a stage: a line of 128 bytes
constexpr int kBytesA = BM * 128, kBytesB = BN * 128;
constexpr int kPart = 32;  ///< columns of a slab
static_assert(BM % 64 == 0 && BN % kPart == 0 && BN % (8 * CLUSTER) == 0, "whole groups, slabs and shares");

struct Tiles {
  int m, n, per_batch, all;  ///< m counts rows of CLUSTER tiles
  __device__ Tiles(const GemmArguments& args, int batches) {
    m = (args.m + BM * CLUSTER - 1) / (BM * CLUSTER);
    n = (args.n + BN - 1) / BN;
    per_batch = m * n;
    all = per_batch * batches;
  }
};

__device__ __forceinline__ void feed(const TensorMap* map_a, const TensorMap* map_b, const GemmArguments& args,
                                     const Tiles& tiles, unsigned shared, unsigned full, unsigned empty, int rank) {
  const int steps = (args.k + kStep - 1) / kStep;
  // A batch axis along which an operand does not move has extent 1 in its map.
  const int batch_a = args.batches.axes && args.batches.axis[0].a,
            batch_b = args.batches.axes && args.batches.axis[0].b;
  Stage stage(1);
  for (int t = blockIdx.x / CLUSTER; t < tiles.all; t += gridDim.x / CLUSTER) {
    const int batch = t / tiles.per_batch;
    const TilePlace place = tile_place(t % tiles.per_batch, tiles.m, tiles.n);
    const int row = (place.m * CLUSTER + rank) * BM, column = place.n * BN;
    for (int k = 0; k < steps; ++k, stage.advance()) {
      const unsigned here = full + 8 * stage.at, a = shared + stage.at * (kBytesA + kBytesB), b = a + kBytesA;
      wait_barrier(empty + 8 * stage.at, stage.parity);
      expect_bytes(here, kBytesA + kBytesB);
      copy_box(a, map_a, here, k * kStep, row, batch_a * batch);
#if CLUSTER == 1
      copy_box(b, map_b, here, k * kStep, column, batch_b * batch);
#else  // each block loads its share of B, for all
      copy_box_to_all(b + rank * (kBytesB / CLUSTER), map_b, here, k * kStep, column + rank * (BN / CLUSTER),
                      batch_b * batch, (1 << CLUSTER) - 1);
#endif
    }
  }
}

__device__ __forceinline__ void release(unsigned barrier) {
#if CLUSTER == 1
  if (threadIdx.x % 128 == 0) arrive(barrier);
#else
  if (threadIdx.x % 128 < CLUSTER) arrive_remote(barrier, threadIdx.x % 128);
#endif
}

/// With groups in turns, a group begins a tile when the other has passed all steps of the tile before. A barrier's
/// parity only tells one round of the ring from the next, so groups must not be further apart.
__device__ __forceinline__ void take_turn(int group) {
  if (TURNS == 2) sync_threads<256>(group + 1);
}
__device__ __forceinline__ void pass_turn_to(int group) {
  if (TURNS == 2) arrive_threads<256>(group + 1);
}

using Sums = float[kBands][BN / 8][4];
/// The sums of one tile. The stage multiplied last is released when the next has been issued.
__device__ __forceinline__ void multiply_tile(Sums& sums, int steps, Stage& stage, unsigned shared, unsigned full,
                                              unsigned empty, int row, int passed_to) {
  int before = -1;
  for (int k = 0; k < steps; ++k, stage.advance()) {
    wait_barrier(full + 8 * stage.at, stage.parity);
    const unsigned a = shared + stage.at * (kBytesA + kBytesB);
    const unsigned long long da = tile_descriptor(a + row * 128), db = tile_descriptor(a + kBytesA);
    begin_wgmma();
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int band = 0; band < kBands; ++band)
        wgmma(sums[band], da + band * (64 * 128 / 16) + 2 * j, db + 2 * j, (k | j) != 0);
    commit_wgmma();
    wait_wgmma<1>();
    if (before >= 0) release(empty + 8 * before);
    before = stage.at;
  }
  if (passed_to >= 0) pass_turn_to(passed_to);
  wait_wgmma<0>();
#pragma unroll
  for (int band = 0; band < kBands; ++band) settle(sums[band]);
  if (before >= 0) release(empty + 8 * before);
}

constexpr int kPartsOfRow = BN / kPart, kParts = kBands * kPartsOfRow;

/// Turns a warp's sums of a tile into results, a slab of 16 rows and kPart columns at a time. The epilogue's operands
/// of a slab are loaded while the slab before is written.
struct Ending {
  using PartSlab = Slab<kPart>;
  using Operands = Epilogue::Operands<VEC>[PartSlab::kEach];
  const GemmArguments& args;
  int row0, column0;
  long long c;

  /// Of tile `t`, from its row `row` on.
  __device__ __forceinline__ Ending(const GemmArguments& args, const Tiles& tiles, int t, int rank, int row)
      : args(args) {
    const TilePlace place = tile_place(t % tiles.per_batch, tiles.m, tiles.n);
    row0 = (place.m * CLUSTER + rank) * BM + row;
    column0 = place.n * BN;
    c = args.batches.axes ? t / tiles.per_batch * args.batches.axis[0].c : 0;
  }
  template <class Use>
  __device__ __forceinline__ void for_each_place(int part, const Use& use) const {
    const int row = row0 + part / kPartsOfRow * 64, column = column0 + part % kPartsOfRow * kPart;
    PartSlab::for_each_place(args.m - row, args.n - column, [&](int e, int i, int j) {
      use(e, i, j, c + (row + i) * args.c_row + column + j, column + j);
    });
  }
  __device__ __forceinline__ void fetch(Operands& operands, int part) const {
    for_each_place(
        part, [&](int e, int, int, long long index, int column) { operands[e].fetch(args.epilogue, index, column); });
  }
  __device__ __forceinline__ void write(const PartSlab& slab, const Operands& operands, int part) const {
    for_each_place(part, [&](int e, int i, int j, long long index, int) {
      float x[VEC];
#pragma unroll
      for (int v = 0; v < VEC; ++v) x[v] = slab.at[i][j + v];
      operands[e].apply(x);
      store_vector(args.c + index, x);
    });
  }
};

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    gemm_wgmma(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
               const __grid_constant__ GemmArguments args, int batches) {
  extern __shared__ __align__(1024) unsigned char raw[];
  __shared__ alignas(8) unsigned long long barriers[2 * STAGES];
  __shared__ Slab<kPart> slabs[4 * kGroups];
  const unsigned shared = (shared_address(raw) + 1023) & ~1023u;
  const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
  const int rank = CLUSTER == 1 ? 0 : cluster_rank();
  if (threadIdx.x == 0) {
    prefetch_map(&map_a);
    prefetch_map(&map_b);
    for (int i = 0; i < STAGES; ++i) {
      init_barrier(full + 8 * i, 1);
      init_barrier(empty + 8 * i, kGroups / TURNS * CLUSTER);
    }
    publish_barriers();
  }
#if CLUSTER > 1
  arrive_cluster();
  wait_cluster();
#endif
  __syncthreads();
  pdl_wait();
  const Tiles tiles(args, batches);
  if (threadIdx.x < 128) {
    leave_registers<kGroups == 2 ? 40 : 56>();
    if (threadIdx.x == 0) feed(&map_a, &map_b, args, tiles, shared, full, empty, rank);
  } else {
    take_registers<kGroups == 2 ? 232 : 240>();
    const int group = threadIdx.x / 128 - 1, warp = threadIdx.x % 128 / 32, steps = (args.k + kStep - 1) / kStep;
    Slab<kPart>& slab = slabs[group * 4 + warp];
    Stage stage(0);
    if (group == 1) pass_turn_to(0);
    for (int t = blockIdx.x / CLUSTER, turn = 0; t < tiles.all; t += gridDim.x / CLUSTER, ++turn) {
      if (TURNS == 2 && turn % 2 != group) {
        stage.skip(steps);
        continue;
      }
      const bool another = t + gridDim.x / CLUSTER < tiles.all;
      const Ending ending(args, tiles, t, rank, (TURNS == 1 ? group * 64 : 0) + warp * 16);
      Ending::Operands operands[2];
      ending.fetch(operands[0], 0);
      Sums sums;
      take_turn(group);
      multiply_tile(sums, steps, stage, shared, full, empty, TURNS == 1 ? group * 64 : 0, another ? 1 - group : -1);
      if (t + gridDim.x / CLUSTER * TURNS >= tiles.all) pdl_launch();
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        if (part + 1 < kParts) ending.fetch(operands[(part + 1) % 2], part + 1);
        slab.fill(reinterpret_cast<float(&)[kPart / 8][4]>(sums[part / kPartsOfRow][part % kPartsOfRow * (kPart / 8)]));
        ending.write(slab, operands[part % 2], part);
      }
    }
  }
#if CLUSTER > 1  // a block's barriers must stay until the other blocks have arrived at them for the last time
  sync_cluster();
#endif
}

}  // namespace kiln
