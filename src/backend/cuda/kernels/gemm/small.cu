// C = epilogue(A * B^T) on sm_90a where there are few tiles: the blocks of a cluster share a tile's k, exchange partial
// sums through each other's shared memory, and end a share of its columns each. Constant weights are on their way
// before the kernel in front has ended. Defines: BM (64 a group of warps) BN STAGES, SPLIT (blocks a cluster),
// B_CONSTANT, TERMS (2: B is the sum of two, batches of its map; k runs over both, A's twice; 1 if not defined), VEC,
// those of arguments.cuh. The prelude has wgmma().
#ifndef TERMS
#define TERMS 1
#endif
#include "gemm/arguments.cuh"
#include "gemm/exchange.cuh"
#include "gemm/slab.cuh"

namespace kiln {

constexpr int kGroups = BM / 64, kMultipliers = 128 * kGroups, kThreads = kMultipliers + 32;
constexpr int kStep = 128 / sizeof(ELEMENT);
constexpr int kBytesA = BM * 128, kBytesB = BN * 128;
constexpr int kBlocks = BN / 8, kOwn = kBlocks / SPLIT;  ///< blocks of 8 columns: of the tile, and that a block ends
using Exchanged = Exchange<SPLIT, kBlocks, kMultipliers>;

struct Place {
  int row, column, batch, first, last;  ///< [first, last): this block's steps of k
  __device__ Place(const GemmArguments& args, int rank) {
    const int steps = TERMS * ((args.k + kStep - 1) / kStep);
    const int tiles_n = (args.n + BN - 1) / BN, tiles_m = (args.m + BM - 1) / BM;
    const int tile = blockIdx.x / SPLIT;
    column = tile % tiles_n * BN;
    row = tile / tiles_n % tiles_m * BM;
    batch = tile / tiles_n / tiles_m;
    first = steps * rank / SPLIT;
    last = steps * (rank + 1) / SPLIT;
  }
};

__device__ __forceinline__ void feed(const TensorMap* map_a, const TensorMap* map_b, const GemmArguments& args,
                                     const Place& place, unsigned shared, unsigned full, unsigned empty) {
  const int za = args.batches.axes && args.batches.axis[0].a ? place.batch : 0;
  const int zb = args.batches.axes && args.batches.axis[0].b ? place.batch : 0;
  const int steps = place.last - place.first, ahead = min(STAGES, steps);
  const int steps_of_k = (args.k + kStep - 1) / kStep;
  const auto term = [&](int i) { return TERMS == 1 ? 0 : (place.first + i) / steps_of_k; };
  const auto at_k = [&](int i) { return (place.first + i - term(i) * steps_of_k) * kStep; };
  const auto copy_a = [&](int i) {
    copy_box(shared + i % STAGES * (kBytesA + kBytesB), map_a, full + 8 * (i % STAGES), at_k(i), place.row, za);
  };
  const auto copy_b = [&](int i) {
    copy_box(shared + i % STAGES * (kBytesA + kBytesB) + kBytesA, map_b, full + 8 * (i % STAGES), at_k(i), place.column,
             zb + term(i));
  };
#if !B_CONSTANT
  pdl_wait();
#endif
  for (int i = 0; i < ahead; ++i) {
    expect_bytes(full + 8 * i, kBytesA + kBytesB);
    copy_b(i);
  }
#if B_CONSTANT
  for (int i = ahead; i < steps; ++i) prefetch_box(map_b, at_k(i), place.column, zb + term(i));
  pdl_wait();
#endif
  for (int i = 0; i < ahead; ++i) copy_a(i);
  for (int i = ahead; i < steps; ++i) {
    wait_barrier(empty + 8 * (i % STAGES), i / STAGES & 1 ^ 1);
    expect_bytes(full + 8 * (i % STAGES), kBytesA + kBytesB);
    copy_b(i);
    copy_a(i);
  }
}

__device__ __forceinline__ void multiply_steps(float (&sums)[kBlocks][4], int steps, unsigned shared, unsigned full,
                                               unsigned empty) {
  const int warp = threadIdx.x / 32;
  for (int i = 0; i < steps; ++i) {
    const int stage = i % STAGES;
    wait_barrier(full + 8 * stage, i / STAGES & 1);
    const unsigned a = shared + stage * (kBytesA + kBytesB);
    const unsigned long long da = tile_descriptor(a + warp / 4 * 64 * 128), db = tile_descriptor(a + kBytesA);
    begin_wgmma();
#pragma unroll
    for (int j = 0; j < 4; ++j) wgmma(sums, da + 2 * j, db + 2 * j, (i | j) != 0);
    commit_wgmma();
    wait_wgmma<1>();
    if (i > 0 && threadIdx.x % 128 == 0) arrive(empty + 8 * ((i - 1) % STAGES));
  }
  wait_wgmma<0>();
  settle(sums);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm_small(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
               const __grid_constant__ GemmArguments args) {
  extern __shared__ __align__(1024) unsigned char raw[];
  __shared__ alignas(8) unsigned long long barriers[2 * STAGES];
  const unsigned shared = (shared_address(raw) + 1023) & ~1023u;
  unsigned char* behind = raw + (shared - shared_address(raw)) + STAGES * (kBytesA + kBytesB);
  const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
  const int rank = SPLIT == 1 ? 0 : cluster_rank(), warp = threadIdx.x / 32;
  const Place place(args, rank);
  if (threadIdx.x == 0) {
    prefetch_map(&map_a);
    prefetch_map(&map_b);
    for (int i = 0; i < STAGES; ++i) {
      init_barrier(full + 8 * i, 1);
      init_barrier(empty + 8 * i, kGroups);
    }
    publish_barriers();
  }
  __syncthreads();
  if constexpr (SPLIT > 1) arrive_cluster();  // has begun
  pdl_launch();
  using Slab16 = Slab<kOwn * 8>;
  const int row = place.row + warp * 16, column = place.column + rank * kOwn * 8;
  const long long c = args.batches.axes ? place.batch * args.batches.axis[0].c : 0;
  Epilogue::Operands<VEC> operands[Slab16::kEach];
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
#if SPLIT > 1
  auto& received = *reinterpret_cast<Exchanged::Received*>(behind);
  Exchanged::run_begun(sums, own, received, rank, threadIdx.x);
#else
#pragma unroll
  for (int j = 0; j < kOwn; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) own[j][i] = sums[j][i];
#endif
  if (warp == kMultipliers / 32) return;
  __syncwarp();
  Slab16& slab = reinterpret_cast<Slab16*>(behind + (SPLIT > 1 ? sizeof(Exchanged::Received) : 0))[warp];
  slab.fill(own);
  Slab16::for_each_place(args.m - row, args.n - column, [&](int e, int i, int j) {
    float x[VEC];
#pragma unroll
    for (int v = 0; v < VEC; ++v) x[v] = slab.at[i][j + v];
    operands[e].apply(x);
    store_vector(args.c + c + (row + i) * args.c_row + column + j, x);
  });
}

}  // namespace kiln
