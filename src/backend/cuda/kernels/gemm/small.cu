// C = epilogue(A * B^T) on sm_90a where there are few tiles: the blocks of a cluster share a tile's k, exchange partial
// sums through each other's shared memory, and end a share of its columns each. Constant weights are on their way
// before the kernel in front has ended. A group of warps has 64 rows, splits are the blocks of a cluster. Where there
// are two terms, B is their sum: they are batches of its map, and k runs over both, A's twice. The prelude has wgmma().
#include "gemm/arguments.cuh"
#include "gemm/exchange.cuh"
#include "gemm/slab.cuh"

namespace kiln {

constexpr int kGroups = kTile.bm / 64, kMultipliers = 128 * kGroups, kThreads = kMultipliers + 32;
constexpr int kStep = 128 / sizeof(Element);
constexpr int kBytesA = kTile.bm * 128, kBytesB = kTile.bn * 128;
constexpr int kBlocks = kTile.bn / 8,
              kOwn = kBlocks / kTile.splits;  ///< blocks of 8 columns: of the tile, and that a block ends
using Exchanged = Exchange<kTile.splits, kBlocks, kMultipliers>;

struct Place {
  int row, column, batch, first, last;  ///< [first, last): this block's steps of k
  __device__ Place(const GemmArguments& args, int rank) {
    const int steps = kTile.terms * ((args.k + kStep - 1) / kStep);
    const int tiles_n = (args.n + kTile.bn - 1) / kTile.bn, tiles_m = (args.m + kTile.bm - 1) / kTile.bm;
    const int tile = blockIdx.x / kTile.splits;
    column = tile % tiles_n * kTile.bn;
    row = tile / tiles_n % tiles_m * kTile.bm;
    batch = tile / tiles_n / tiles_m;
    first = steps * rank / kTile.splits;
    last = steps * (rank + 1) / kTile.splits;
  }
};

__device__ __forceinline__ void feed(const TensorMap* map_a, const TensorMap* map_b, const GemmArguments& args,
                                     const Place& place, unsigned shared, unsigned full, unsigned empty) {
  const int za = args.batches.axes && args.batches.axis[0].a ? place.batch : 0;
  const int zb = args.batches.axes && args.batches.axis[0].b ? place.batch : 0;
  const int steps = place.last - place.first, ahead = min(kTile.stages, steps);
  const int steps_of_k = (args.k + kStep - 1) / kStep;
  const auto term = [&](int i) { return kTile.terms == 1 ? 0 : (place.first + i) / steps_of_k; };
  const auto at_k = [&](int i) { return (place.first + i - term(i) * steps_of_k) * kStep; };
  const auto copy_a = [&](int i) {
    copy_box(shared + i % kTile.stages * (kBytesA + kBytesB), map_a, full + 8 * (i % kTile.stages), at_k(i), place.row,
             za);
  };
  const auto copy_b = [&](int i) {
    copy_box(shared + i % kTile.stages * (kBytesA + kBytesB) + kBytesA, map_b, full + 8 * (i % kTile.stages), at_k(i),
             place.column, zb + term(i));
  };
  if constexpr (!kTile.b_constant) pdl_wait();
  for (int i = 0; i < ahead; ++i) {
    expect_bytes(full + 8 * i, kBytesA + kBytesB);
    copy_b(i);
  }
  if constexpr (kTile.b_constant) {
    for (int i = ahead; i < steps; ++i) prefetch_box(map_b, at_k(i), place.column, zb + term(i));
    pdl_wait();
  }
  for (int i = 0; i < ahead; ++i) copy_a(i);
  for (int i = ahead; i < steps; ++i) {
    wait_barrier(empty + 8 * (i % kTile.stages), i / kTile.stages & 1 ^ 1);
    expect_bytes(full + 8 * (i % kTile.stages), kBytesA + kBytesB);
    copy_b(i);
    copy_a(i);
  }
}

__device__ __forceinline__ void multiply_steps(float (&sums)[kBlocks][4], int steps, unsigned shared, unsigned full,
                                               unsigned empty) {
  const int warp = threadIdx.x / 32;
  for (int i = 0; i < steps; ++i) {
    const int stage = i % kTile.stages;
    wait_barrier(full + 8 * stage, i / kTile.stages & 1);
    const unsigned a = shared + stage * (kBytesA + kBytesB);
    const unsigned long long da = tile_descriptor(a + warp / 4 * 64 * 128), db = tile_descriptor(a + kBytesA);
    begin_wgmma();
#pragma unroll
    for (int j = 0; j < 4; ++j) wgmma(sums, da + 2 * j, db + 2 * j, (i | j) != 0);
    commit_wgmma();
    wait_wgmma<1>();
    if (i > 0 && threadIdx.x % 128 == 0) arrive(empty + 8 * ((i - 1) % kTile.stages));
  }
  wait_wgmma<0>();
  settle<Element>(sums);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm_small(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
               const __grid_constant__ GemmArguments args) {
  extern __shared__ __align__(1024) unsigned char raw[];
  __shared__ alignas(8) unsigned long long barriers[2 * kTile.stages];
  const unsigned shared = (shared_address(raw) + 1023) & ~1023u;
  unsigned char* behind = raw + (shared - shared_address(raw)) + kTile.stages * (kBytesA + kBytesB);
  const unsigned full = shared_address(barriers), empty = full + 8 * kTile.stages;
  const int rank = kTile.splits == 1 ? 0 : cluster_rank(), warp = threadIdx.x / 32;
  const Place place(args, rank);
  if (threadIdx.x == 0) {
    prefetch_map(&map_a);
    prefetch_map(&map_b);
    for (int i = 0; i < kTile.stages; ++i) {
      init_barrier(full + 8 * i, 1);
      init_barrier(empty + 8 * i, kGroups);
    }
    publish_barriers();
  }
  __syncthreads();
  if constexpr (kTile.splits > 1) arrive_cluster();  // has begun
  pdl_launch();
  using Slab16 = Slab<kOwn * 8>;
  const int row = place.row + warp * 16, column = place.column + rank * kOwn * 8;
  const long long c = args.batches.axes ? place.batch * args.batches.axis[0].c : 0;
  Epilogue::Operands<kTile.vec> operands[Slab16::kEach];
  float sums[kBlocks][4] = {};
  if (warp == kMultipliers / 32) {
    if (threadIdx.x % 32 == 0) feed(&map_a, &map_b, args, place, shared, full, empty);
    __syncwarp();
  } else {
    pdl_wait();  // for the epilogue's operands; the feeding warp itself waits before it reads what is multiplied
    Slab16::for_each_place(args.m - row, args.n - column, [&](int e, int i, int j) {
      operands[e].fetch(args.epilogue, c + (row + i) * args.c_row + column + j, column + j);
    });
    multiply_steps(sums, place.last - place.first, shared, full, empty);
  }
  float own[kOwn][4];
  if constexpr (kTile.splits > 1)
    Exchanged::run_begun(sums, own, *reinterpret_cast<Exchanged::Received*>(behind), rank, threadIdx.x);
  else
#pragma unroll
    for (int j = 0; j < kOwn; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) own[j][i] = sums[j][i];
  if (warp == kMultipliers / 32) return;
  __syncwarp();
  Slab16& slab = reinterpret_cast<Slab16*>(behind + (kTile.splits > 1 ? sizeof(Exchanged::Received) : 0))[warp];
  slab.fill(own);
  Slab16::for_each_place(args.m - row, args.n - column, [&](int e, int i, int j) {
    float x[kTile.vec];
    slab.read(x, i, j);
    operands[e].apply(x);
    store_vector(args.c + c + (row + i) * args.c_row + column + j, x);
  });
}

}  // namespace kiln
