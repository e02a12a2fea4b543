// C = epilogue(A * B^T) where A has few rows: B streams from memory straight into registers, as mma.sync's left
// operand, 128 bytes of k a row and step; warps share k, and so do the blocks of a cluster. Sums are added in the order
// of the warps, then of the blocks. Both operands lie along k, in whole 16 bytes. Defines: BM (rows, 8 or 16) BN
// (columns of a block) WARPS_N (warps that share k) STAGES (steps on their way), SPLIT (blocks a cluster), B_CONSTANT,
// VEC, those of arguments.cuh.
#include "gemm/arguments.cuh"
#include "ptx/hopper.cuh"

namespace kiln {

constexpr int kThreads = WARPS_N * 32, kPanels = BN / 16, kHalves = BM / 8;
constexpr int kChunk = 16 / sizeof(ELEMENT), kStep = 8 * kChunk;
static_assert(BM % 8 == 0 && BN % 16 == 0, "whole blocks of mma.sync");

struct Chunk {
  unsigned word[4];
};
/// Past the cache of the multiprocessor: every element of B is read once.
__device__ __forceinline__ Chunk stream(const ELEMENT* from, bool valid) {
  Chunk x = {};
  if (valid) stream_global_4(x.word, from);
  return x;
}
__device__ __forceinline__ Chunk load(const ELEMENT* from, bool valid) {
  Chunk x = {};
  if (valid) *reinterpret_cast<uint4*>(x.word) = *reinterpret_cast<const uint4*>(from);
  return x;
}

/// A step's operands. Lane (g, t) = (lane / 4, lane % 4) has chunks t and t + 4 of its rows: k is permuted alike in
/// both operands, which no sum notices.
struct Step {
  Chunk b[kPanels][2][2];  ///< columns g and g + 8 of each panel
  Chunk a[kHalves][2];     ///< row g of each half
};

/// This lane's rows of the operands; steps of k from `first` on, every WARPS_N-th.
struct Lane {
  const ELEMENT *a, *b;
  long long a_row, b_column;
  int rows, columns, k, first;  ///< rows and columns that are left from the lane's first ones

  __device__ __forceinline__ void load_b(Step& step, int i) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int at = (first + i * WARPS_N) * kStep + h * (kStep / 2);
#pragma unroll
      for (int p = 0; p < kPanels; ++p)
#pragma unroll
        for (int r = 0; r < 2; ++r)
          step.b[p][r][h] = stream(b + (p * 16 + r * 8) * b_column + at, p * 16 + r * 8 < columns && at < k);
    }
  }
  __device__ __forceinline__ void load_a(Step& step, int i) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int at = (first + i * WARPS_N) * kStep + h * (kStep / 2);
#pragma unroll
      for (int p = 0; p < kHalves; ++p) step.a[p][h] = load(a + p * 8 * a_row + at, p * 8 < rows && at < k);
    }
  }
};

__device__ __forceinline__ void multiply_step(float (&sums)[kPanels][kHalves][4], const Step& step) {
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int c = 0; c < 4; c += 2)
#pragma unroll
      for (int p = 0; p < kPanels; ++p) {
        const Chunk &low = step.b[p][0][h], &high = step.b[p][1][h];
        const unsigned left[] = {round_operand(low.word[c], ELEMENT{}), round_operand(high.word[c], ELEMENT{}),
                                 round_operand(low.word[c + 1], ELEMENT{}), round_operand(high.word[c + 1], ELEMENT{})};
#pragma unroll
        for (int m = 0; m < kHalves; ++m)
          multiply(sums[p][m], left, round_operand(step.a[m][h].word[c], ELEMENT{}),
                   round_operand(step.a[m][h].word[c + 1], ELEMENT{}), ELEMENT{});
      }
}

/// Sums of a warp or a block, a row of C each; the padding keeps a warp's writes apart.
using Part = float[BM][BN + 4];

__device__ __forceinline__ void keep(const float (&sums)[kPanels][kHalves][4], Part& part, int g, int t) {
#pragma unroll
  for (int p = 0; p < kPanels; ++p)
#pragma unroll
    for (int m = 0; m < kHalves; ++m)
#pragma unroll
      for (int i = 0; i < 4; ++i) part[m * 8 + t * 2 + i % 2][p * 16 + g + i / 2 * 8] = sums[p][m][i];
}
/// A vector of the sums over the block's warps.
template <int V>
__device__ __forceinline__ void add_warps(float (&x)[V], const Part (&parts)[WARPS_N], int row, int column) {
  for (int w = 0; w < WARPS_N; ++w)
#pragma unroll
    for (int v = 0; v < V; ++v) x[v] += parts[w][row][column + v];
}
/// The block's sums, to the cluster's first.
__device__ __forceinline__ void send(const Part (&parts)[WARPS_N], Part& received) {
  for (int i = threadIdx.x; i < BM * BN / 4; i += kThreads) {
    const int row = i / (BN / 4), column = i % (BN / 4) * 4;
    float x[4] = {};
    add_warps(x, parts, row, column);
    store_remote(remote_address(shared_address(&received[row][column]), 0), x);
  }
}
__device__ __forceinline__ void write_results(const GemmArguments& args, const Part (&parts)[WARPS_N],
                                              const Part* received, long long c, int row0, int column0) {
  const int rows = min(BM, args.m - row0);
  for (int i = threadIdx.x; i < rows * (BN / VEC); i += kThreads) {
    const int row = i / (BN / VEC), column = i % (BN / VEC) * VEC;
    if (column0 + column >= args.n) continue;
    float x[VEC] = {};
    add_warps(x, parts, row, column);
#pragma unroll
    for (int s = 0; s < SPLIT - 1; ++s)
#pragma unroll
      for (int v = 0; v < VEC; ++v) x[v] += received[s][row][column + v];
    finish(args, x, c, row0 + row, column0 + column);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) gemm_rows(const __grid_constant__ GemmArguments args) {
  __shared__ alignas(16) Part parts[WARPS_N];
  __shared__ alignas(16) Part received[SPLIT > 1 ? SPLIT - 1 : 1];
  const int tiles_n = (args.n + BN - 1) / BN, tiles_m = (args.m + BM - 1) / BM, tile = blockIdx.x / SPLIT;
  const int rank = SPLIT == 1 ? 0 : cluster_rank(), warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4,
            t = threadIdx.x % 4;
  const int column0 = tile % tiles_n * BN, row0 = tile / tiles_n % tiles_m * BM;
  const BatchOffsets at = batch_offsets(args.batches, tile / tiles_n / tiles_m);
  const int steps = (args.k + kStep - 1) / kStep, begin = steps * rank / SPLIT, end = steps * (rank + 1) / SPLIT;
  const int count = max(0, (end - begin - warp + WARPS_N - 1) / WARPS_N);
  const Lane lane{args.a + at.a + (row0 + g) * args.a_row + t * kChunk,
                  args.b + at.b + (column0 + g) * args.b_column + t * kChunk,
                  args.a_row,
                  args.b_column,
                  args.m - row0 - g,
                  args.n - column0 - g,
                  args.k - t * kChunk,
                  begin + warp};
  Step ring[STAGES];
#if SPLIT > 1
  arrive_cluster();  // has begun
#endif
#if !B_CONSTANT
  pdl_wait();
#else
  pdl_launch();
#endif
#pragma unroll
  for (int u = 0; u < STAGES; ++u)
    if (u < count) lane.load_b(ring[u], u);
#if B_CONSTANT
  pdl_wait();
#endif
#pragma unroll
  for (int u = 0; u < STAGES; ++u)
    if (u < count) lane.load_a(ring[u], u);
  float sums[kPanels][kHalves][4] = {};
  for (int i = 0; i < count; i += STAGES)
#pragma unroll
    for (int u = 0; u < STAGES; ++u) {
      if (i + u >= count) break;
      multiply_step(sums, ring[u]);
      if (i + u + STAGES < count) {
        lane.load_b(ring[u], i + u + STAGES);
        lane.load_a(ring[u], i + u + STAGES);
      }
    }
  keep(sums, parts[warp], g, t);
  __syncthreads();
#if SPLIT > 1
  wait_cluster();
  if (rank != 0) send(parts, received[rank - 1]);
  arrive_cluster();
  wait_cluster();
  if (rank != 0) return;
#endif
  write_results(args, parts, received, at.c, row0, column0);
}

}  // namespace kiln
