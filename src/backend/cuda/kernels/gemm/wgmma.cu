// C = epilogue(A * B^T) on sm_90a: one warp feeds the copy engine, groups of four warps multiply, blocks stay and take
// tile after tile. Both operands lie along k. Groups share a tile, 64 rows each, or, with two turns, two groups take
// tiles in turns: one ends its sums while the other multiplies. A cluster's blocks lie along m and share B. With
// `lanes` B's rows come interleaved, and sums become results without shared memory (lanes.cuh). Where rows are
// normalized, warps sum squares of theirs while the tensor cores work. The prelude has wgmma().
#include "gemm/lanes.cuh"
#include "gemm/raster.cuh"
#include "gemm/row_factor.cuh"
#include "gemm/slab.cuh"
#include "gemm/stage.cuh"
#include "ptx/hopper.cuh"

namespace kiln {

constexpr int kGroups = kTile.turns == 1 ? kTile.bm / 64 : 2, kThreads = 128 * (kGroups + 1);
constexpr int kBands = kTile.turns == 1 ? 1 : kTile.bm / 64;      ///< of 64 rows, that a group multiplies
constexpr int kStep = kTile.bk, kLine = kStep * sizeof(Element);  ///< of k a stage: elements and bytes, 128 or 64
constexpr int kBytesA = kTile.bm * kLine, kBytesB = kTile.bn * kLine;
constexpr int kPart = 32;  ///< columns of a slab
static_assert(kTile.bm % 64 == 0 && kTile.bn % kPart == 0 && kTile.bn % (8 * kTile.cluster) == 0,
              "whole groups, slabs and shares");
static_assert(!kTile.normalized || (kTile.turns == 1 && !kTile.lanes && kLine == 128),
              "a warp has 16 rows of a tile, and their lines are swizzled in eights of pieces");

struct Tiles {
  int m, n, per_batch, all;  ///< m counts rows of a cluster's tiles
  __device__ Tiles(const GemmArguments& args, int batches) {
    m = (args.m + kTile.bm * kTile.cluster - 1) / (kTile.bm * kTile.cluster);
    n = (args.n + kTile.bn - 1) / kTile.bn;
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
  for (int t = blockIdx.x / kTile.cluster; t < tiles.all; t += gridDim.x / kTile.cluster) {
    const int batch = t / tiles.per_batch;
    const TilePlace place = tile_place(t % tiles.per_batch, tiles.m, tiles.n);
    const int row = (place.m * kTile.cluster + rank) * kTile.bm, column = place.n * kTile.bn;
    for (int k = 0; k < steps; ++k, stage.advance()) {
      const unsigned here = full + 8 * stage.at, a = shared + stage.at * (kBytesA + kBytesB), b = a + kBytesA;
      wait_barrier(empty + 8 * stage.at, stage.parity);
      expect_bytes(here, kBytesA + kBytesB);
      copy_box(a, map_a, here, k * kStep, row, batch_a * batch);
      // Each block of a cluster loads its share of B, for all.
      constexpr unsigned short kAll = (1 << kTile.cluster) - 1;
      const unsigned share = b + rank * (kBytesB / kTile.cluster);
      const int first = column + rank * (kTile.bn / kTile.cluster);
      if constexpr (kTile.lanes && kTile.cluster == 1)
        copy_interleaved(share, map_b, here, k * kStep, first / kSpan);
      else if constexpr (kTile.lanes)
        copy_interleaved_to_all(share, map_b, here, k * kStep, first / kSpan, kAll);
      else if constexpr (kTile.cluster == 1)
        copy_box(share, map_b, here, k * kStep, first, batch_b * batch);
      else
        copy_box_to_all(share, map_b, here, k * kStep, first, batch_b * batch, kAll);
    }
  }
}

/// Number of threads in a group that release a stage: one, since the tensor cores alone read it, or one a warp, since
/// each warp reads it, too.
constexpr int kReleases = kTile.normalized ? 4 : 1;
__device__ __forceinline__ void release(unsigned barrier) {
  const int thread = threadIdx.x % (128 / kReleases);
  if constexpr (kTile.normalized) __syncwarp();
  if constexpr (kTile.cluster == 1) {
    if (thread == 0) arrive(barrier);
  } else {
    if (thread < kTile.cluster) arrive_remote(barrier, thread);
  }
}

/// With groups in turns, a group begins a tile when the other has passed all steps of the tile before. A barrier's
/// parity only tells one round of the ring from the next, so groups must not be further apart.
__device__ __forceinline__ void take_turn(int group) {
  if (kTile.turns == 2) sync_threads<256>(group + 1);
}
__device__ __forceinline__ void pass_turn_to(int group) {
  if (kTile.turns == 2) arrive_threads<256>(group + 1);
}

using Sums = float[kBands][kTile.bn / 8][4];
/// The sums of one tile. The stage multiplied last is released when the next has been issued. Meanwhile a warp does
/// `beside` with the address of its first line of A.
template <class Beside>
__device__ __forceinline__ void multiply_tile(Sums& sums, int steps, Stage& stage, unsigned shared, unsigned full,
                                              unsigned empty, int row, int passed_to, const Beside& beside) {
  int before = -1;
  for (int k = 0; k < steps; ++k, stage.advance()) {
    wait_barrier(full + 8 * stage.at, stage.parity);
    const unsigned a = shared + stage.at * (kBytesA + kBytesB);
    const unsigned long long da = tile_descriptor<kLine>(a + row * kLine), db = tile_descriptor<kLine>(a + kBytesA);
    begin_wgmma();
#pragma unroll
    for (int j = 0; j < kLine / 32; ++j)
#pragma unroll
      for (int band = 0; band < kBands; ++band)
        wgmma(sums[band], da + band * (64 * kLine / 16) + 2 * j, db + 2 * j, (k | j) != 0);
    commit_wgmma();
    beside(a + (row + threadIdx.x % 128 / 32 * 16) * kLine);
    wait_wgmma<1>();
    if (before >= 0) release(empty + 8 * before);
    before = stage.at;
  }
  if (passed_to >= 0) pass_turn_to(passed_to);
  wait_wgmma<0>();
#pragma unroll
  for (int band = 0; band < kBands; ++band) settle<Element, kTile.narrow_sums>(sums[band]);
  if (before >= 0) release(empty + 8 * before);
}

/// The squares of a warp's 16 rows, summed while what they are part of is multiplied: a lane has half of each line of
/// row lane % 16. Lines are swizzled; rows side by side are read in the order in which they meet in no bank.
class RowSquares {
 public:
  /// Adds a stage's; the warp's first line begins at `lines`.
  __device__ __forceinline__ void add(unsigned lines) {
    const int row = threadIdx.x % 16, half = threadIdx.x / 16 % 2;
    constexpr int kPieces = kLine / 16 / 2;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      unsigned words[4];
      load_shared_words<4>(words, lines + row * kLine + (half * kPieces + i ^ row % 8) * 16);
      sum_[i % 2] += sum_of_squares(words);
    }
  }
  /// Writes the factors of the rows.
  __device__ __forceinline__ void write(const GemmArguments& args, float (&factors)[16]) const {
    float sum = sum_[0] + sum_[1];
    sum += __shfl_xor_sync(kAllLanes, sum, 16);
    if (threadIdx.x % 32 < 16) factors[threadIdx.x % 16] = row_factor(args, sum);
    __syncwarp();
  }

 private:
  float sum_[2] = {};
};

constexpr int kPartsOfRow = kTile.bn / kPart, kParts = kBands * kPartsOfRow;

/// Turns a warp's sums of a tile into results, a slab of 16 rows and kPart columns at a time. The epilogue's operands
/// of a slab are loaded while the slab before is written.
struct Ending {
  using PartSlab = Slab<kPart>;
  using Operands = Epilogue::Operands<kTile.vec>[PartSlab::kEach];
  const GemmArguments& args;
  int row0, column0;
  long long c;

  /// Of tile `t`, from its row `row` on.
  __device__ __forceinline__ Ending(const GemmArguments& args, const Tiles& tiles, int t, int rank, int row)
      : args(args) {
    const TilePlace place = tile_place(t % tiles.per_batch, tiles.m, tiles.n);
    row0 = (place.m * kTile.cluster + rank) * kTile.bm + row;
    column0 = place.n * kTile.bn;
    c = args.batches.axes ? t / tiles.per_batch * args.batches.axis[0].c : 0;
  }
  template <class Use>
  __device__ __forceinline__ void for_each_place(int part, const Use& use) const {
    const int row = row0 + part / kPartsOfRow * 64, column = column0 + part % kPartsOfRow * kPart;
    PartSlab::for_each_place(args.m - row, args.n - column, [&](int e, int i, int j) {
      use(e, i, j, c + (row + i) * args.c_row + (column + j) / kColumnsOfResult, column + j);
    });
  }
  __device__ __forceinline__ void fetch(Operands& operands, int part) const {
    for_each_place(
        part, [&](int e, int, int, long long index, int column) { operands[e].fetch(args.epilogue, index, column); });
  }
  /// `factors` are those of the warp's rows, where rows are normalized.
  __device__ __forceinline__ void write(const PartSlab& slab, const Operands& operands, int part,
                                        const float* factors) const {
    for_each_place(part, [&](int e, int i, int j, long long index, int) {
      float x[kTile.vec];
      slab.read(x, i, j);
      if constexpr (kTile.normalized)
#pragma unroll
        for (int v = 0; v < kTile.vec; ++v) x[v] *= factors[i];
      operands[e].apply(x);
      store_results(args.c + index, x);
    });
  }
};

/// A group's work, by way of shared memory.
__device__ __forceinline__ void take_tiles_by_slabs(const GemmArguments& args, const Tiles& tiles, unsigned shared,
                                                    unsigned full, unsigned empty, int rank, int group) {
  __shared__ Slab<kPart> slabs[4 * kGroups];
  __shared__ float factors[kTile.normalized ? 4 * kGroups : 1][16];
  const int warp = threadIdx.x % 128 / 32, steps = (args.k + kStep - 1) / kStep;
  const int stride = gridDim.x / kTile.cluster, first_row = kTile.turns == 1 ? group * 64 : 0;
  Slab<kPart>& slab = slabs[group * 4 + warp];
  Stage stage(0);
  for (int t = blockIdx.x / kTile.cluster, turn = 0; t < tiles.all; t += stride, ++turn) {
    if (kTile.turns == 2 && turn % 2 != group) {
      stage.skip(steps);
      continue;
    }
    const Ending ending(args, tiles, t, rank, first_row + warp * 16);
    Ending::Operands operands[2];
    ending.fetch(operands[0], 0);
    Sums sums;
    RowSquares squares;
    take_turn(group);
    multiply_tile(sums, steps, stage, shared, full, empty, first_row, t + stride < tiles.all ? 1 - group : -1,
                  [&](unsigned lines) {
                    if constexpr (kTile.normalized) squares.add(lines);
                  });
    if (t + stride * kTile.turns >= tiles.all) pdl_launch();
    float(&of_warp)[16] = factors[kTile.normalized ? group * 4 + warp : 0];
    if constexpr (kTile.normalized) squares.write(args, of_warp);
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if (part + 1 < kParts) ending.fetch(operands[(part + 1) % 2], part + 1);
      slab.fill(reinterpret_cast<float(&)[kPart / 8][4]>(sums[part / kPartsOfRow][part % kPartsOfRow * (kPart / 8)]));
      ending.write(slab, operands[part % 2], part, of_warp);
    }
  }
}

/// Threads of a group wait for each other. Barriers 1 and 2 are those of turns.
__device__ __forceinline__ void wait_group(int group) { sync_threads<128>(3 + group); }

/// A group's work where lanes hold vectors. A template, so that other kernels need not have it.
template <class Arguments>
__device__ __forceinline__ void take_tiles_by_lanes(const Arguments& args, const Tiles& tiles, unsigned shared,
                                                    unsigned full, unsigned empty, int rank, int group) {
  __shared__ ColumnEpilogue<kTile.bn> ends[kGroups];
  const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32, steps = (args.k + kStep - 1) / kStep;
  const int stride = gridDim.x / kTile.cluster, first_row = kTile.turns == 1 ? group * 64 : 0;
  const auto place_of = [&](int t) -> LanePlace {
    if (t >= tiles.all) return {0, args.m, 0};
    const TilePlace place = tile_place(t % tiles.per_batch, tiles.m, tiles.n);
    const int row = (place.m * kTile.cluster + rank) * kTile.bm + first_row + warp * 16 + lane / 4,
              column = place.n * kTile.bn + lane % 4 * kTile.vec;
    const long long batch = args.batches.axes ? t / tiles.per_batch * args.batches.axis[0].c : 0;
    return {batch + row * args.c_row + column, row, column};
  };
  constexpr int kMultipliers = 128 * kGroups;
  LaneEnd<kBands, kMultipliers> end(
      args.epilogue, args.c_row, args.m, args.n,
      shared + kTile.stages * (kBytesA + kBytesB) + (threadIdx.x - (kThreads - kMultipliers)) * 16);
  Stage stage(0);
  int t = blockIdx.x / kTile.cluster, columns_of = -1;
  if (kTile.turns == 2 && group == 1) {
    t += stride;
    stage.skip(steps);
  }
  LanePlace at = place_of(t);
  end.begin(args.epilogue, at);
  for (; t < tiles.all; t += stride * kTile.turns) {
    const LanePlace next = place_of(t + stride * kTile.turns);
    const int column = at.column - lane % 4 * kTile.vec;
    if (column != columns_of) {
      wait_group(group);  // all warps have ended their last tile
      ends[group].load<128>(args.epilogue, args.n, columns_of = column, threadIdx.x % 128);
      wait_group(group);
    }
    Sums sums;
    take_turn(group);
    multiply_tile(sums, steps, stage, shared, full, empty, first_row, t + stride < tiles.all ? 1 - group : -1,
                  [](unsigned) {});
    if (kTile.turns == 2) stage.skip(steps);
    if (t + stride * kTile.turns >= tiles.all) pdl_launch();
    end.write(ends[group].get(args.epilogue, column), args.c, sums, at, next);
    at = next;
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    gemm_wgmma(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
               const __grid_constant__ GemmArguments args, int batches) {
  extern __shared__ __align__(1024) unsigned char raw[];
  __shared__ alignas(8) unsigned long long barriers[2 * kTile.stages];
  const unsigned shared = (shared_address(raw) + 1023) & ~1023u;
  const unsigned full = shared_address(barriers), empty = full + 8 * kTile.stages;
  const int rank = kTile.cluster == 1 ? 0 : cluster_rank();
  if (threadIdx.x == 0) {
    prefetch_map(&map_a);
    prefetch_map(&map_b);
    for (int i = 0; i < kTile.stages; ++i) {
      init_barrier(full + 8 * i, 1);
      init_barrier(empty + 8 * i, kGroups / kTile.turns * kTile.cluster * kReleases);
    }
    publish_barriers();
  }
  if constexpr (kTile.cluster > 1) sync_cluster();
  __syncthreads();
  pdl_wait();
  const Tiles tiles(args, batches);
  if (threadIdx.x < 128) {
    leave_registers<kGroups == 2 ? 40 : 56>();
    if (threadIdx.x == 0) feed(&map_a, &map_b, args, tiles, shared, full, empty, rank);
  } else {
    take_registers<kGroups == 2 ? 232 : 240>();
    const int group = threadIdx.x / 128 - 1;
    if (group == 1) pass_turn_to(0);
    if constexpr (kTile.lanes)
      take_tiles_by_lanes(args, tiles, shared, full, empty, rank, group);
    else
      take_tiles_by_slabs(args, tiles, shared, full, empty, rank, group);
  }
  // A block's barriers must stay until the other blocks have arrived at them for the last time.
  if constexpr (kTile.cluster > 1) sync_cluster();
}

}  // namespace kiln
