// C = epilogue(A * B^T) where A has few rows: B streams from memory straight into registers, as mma.sync's left
// operand, 128 bytes of k a row and step; warps share k, and so do the blocks of a cluster. Sums are added in the order
// of the warps, then of the blocks. Both operands lie along k, in whole 16 bytes. Rows are 8 or 16; splits are the
// blocks of a cluster, stages the steps on their way. Where rows are normalized, sums of their squares go the way of
// the sums, as one more column.
#include "gemm/row_factor.cuh"
#include "ptx/hopper.cuh"

namespace kiln {

constexpr int kThreads = kTile.warps_n * 32, kPanels = kTile.bn / 16, kHalves = kTile.bm / 8;
constexpr int kChunk = 16 / sizeof(Element), kStep = 8 * kChunk;
static_assert(kTile.bm % 8 == 0 && kTile.bn % 16 == 0, "whole blocks of mma.sync");

struct Chunk {
  unsigned word[4];
};
/// Past the cache of the multiprocessor: every element of B is read once.
__device__ __forceinline__ Chunk stream(const Element* from, bool valid) {
  Chunk x = {};
  if (valid) stream_global_4(x.word, from);
  return x;
}
__device__ __forceinline__ Chunk load(const Element* from, bool valid) {
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

/// This lane's rows of the operands; steps of k from `first` on, every warps_n-th.
struct Lane {
  const Element *a, *b;
  long long a_row, b_column;
  int rows, columns, k, first;  ///< rows and columns that are left from the lane's first ones

  __device__ __forceinline__ void load_b(Step& step, int i) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int at = (first + i * kTile.warps_n) * kStep + h * (kStep / 2);
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
      const int at = (first + i * kTile.warps_n) * kStep + h * (kStep / 2);
#pragma unroll
      for (int p = 0; p < kHalves; ++p) step.a[p][h] = load(a + p * 8 * a_row + at, p * 8 < rows && at < k);
    }
  }
};

/// What a lane sums: columns of its panels, and squares of its rows.
struct Sums {
  float product[kPanels][kHalves][4] = {};
  float squares[kHalves] = {};
};

__device__ __forceinline__ void square_step(Sums& sums, const Step& step) {
#pragma unroll
  for (int m = 0; m < kHalves; ++m)
    sums.squares[m] += sum_of_squares(step.a[m][0].word) + sum_of_squares(step.a[m][1].word);
}
__device__ __forceinline__ void multiply_step(Sums& sums, const Step& step) {
  if constexpr (kTile.normalized) square_step(sums, step);
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int c = 0; c < 4; c += 2)
#pragma unroll
      for (int p = 0; p < kPanels; ++p) {
        const Chunk &low = step.b[p][0][h], &high = step.b[p][1][h];
        const unsigned left[] = {round_operand(low.word[c], Element{}), round_operand(high.word[c], Element{}),
                                 round_operand(low.word[c + 1], Element{}), round_operand(high.word[c + 1], Element{})};
#pragma unroll
        for (int m = 0; m < kHalves; ++m)
          multiply(sums.product[p][m], left, round_operand(step.a[m][h].word[c], Element{}),
                   round_operand(step.a[m][h].word[c + 1], Element{}), Element{});
      }
}

/// Sums of a warp or a block, a row of C each; the padding keeps a warp's writes apart, and has a row's sum of squares.
using Part = float[kTile.bm][kTile.bn + 4];
constexpr int kSquares = kTile.bn;                                         ///< the column that has them
constexpr int kVectorsOfPart = kTile.bn / 4 + (kTile.normalized ? 1 : 0);  ///< of 4 columns of a row, that blocks send

__device__ __forceinline__ void keep(const Sums& sums, Part& part, int g, int t) {
#pragma unroll
  for (int p = 0; p < kPanels; ++p)
#pragma unroll
    for (int m = 0; m < kHalves; ++m)
#pragma unroll
      for (int i = 0; i < 4; ++i) part[m * 8 + t * 2 + i % 2][p * 16 + g + i / 2 * 8] = sums.product[p][m][i];
  if constexpr (kTile.normalized)
#pragma unroll
    for (int m = 0; m < kHalves; ++m) {
      float of_row = sums.squares[m];
      of_row += __shfl_xor_sync(kAllLanes, of_row, 1);
      of_row += __shfl_xor_sync(kAllLanes, of_row, 2);
      if (t == 0) part[m * 8 + g][kSquares] = of_row;
    }
}
/// A vector of the sums over the block's warps.
template <int V>
__device__ __forceinline__ void add_warps(float (&x)[V], const Part (&parts)[kTile.warps_n], int row, int column) {
  for (int w = 0; w < kTile.warps_n; ++w)
#pragma unroll
    for (int v = 0; v < V; ++v) x[v] += parts[w][row][column + v];
}
/// The same over the cluster's blocks.
template <int V>
__device__ __forceinline__ void add_parts(float (&x)[V], const Part (&parts)[kTile.warps_n], const Part* received,
                                          int row, int column) {
  add_warps(x, parts, row, column);
#pragma unroll
  for (int s = 0; s < kTile.splits - 1; ++s)
#pragma unroll
    for (int v = 0; v < V; ++v) x[v] += received[s][row][column + v];
}
/// The block's sums, to the cluster's first.
__device__ __forceinline__ void send(const Part (&parts)[kTile.warps_n], Part& received) {
  for (int i = threadIdx.x; i < kTile.bm * kVectorsOfPart; i += kThreads) {
    const int row = i / kVectorsOfPart, column = i % kVectorsOfPart * 4;
    float x[4] = {};
    add_warps(x, parts, row, column);
    store_remote(remote_address(shared_address(&received[row][column]), 0), x);
  }
}
__device__ __forceinline__ void write_results(const GemmArguments& args, const Part (&parts)[kTile.warps_n],
                                              const Part* received, long long c, int row0, int column0) {
  const int rows = min(kTile.bm, args.m - row0);
  for (int i = threadIdx.x; i < rows * (kTile.bn / kTile.vec); i += kThreads) {
    const int row = i / (kTile.bn / kTile.vec), column = i % (kTile.bn / kTile.vec) * kTile.vec;
    if (column0 + column >= args.n) continue;
    float x[kTile.vec] = {};
    add_parts(x, parts, received, row, column);
    if constexpr (kTile.normalized) {
      float squares[1] = {};
      add_parts(squares, parts, received, row, kSquares);
      const float factor = row_factor(args, squares[0]);
#pragma unroll
      for (int v = 0; v < kTile.vec; ++v) x[v] *= factor;
    }
    finish(args, x, c, row0 + row, column0 + column);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) gemm_rows(const __grid_constant__ GemmArguments args) {
  __shared__ alignas(16) Part parts[kTile.warps_n];
  __shared__ alignas(16) Part received[kTile.splits > 1 ? kTile.splits - 1 : 1];
  const int tiles_n = (args.n + kTile.bn - 1) / kTile.bn, tiles_m = (args.m + kTile.bm - 1) / kTile.bm,
            tile = blockIdx.x / kTile.splits;
  const int rank = kTile.splits == 1 ? 0 : cluster_rank(), warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4,
            t = threadIdx.x % 4;
  const int column0 = tile % tiles_n * kTile.bn, row0 = tile / tiles_n % tiles_m * kTile.bm;
  const BatchOffsets at = batch_offsets(args.batches, tile / tiles_n / tiles_m);
  const int steps = (args.k + kStep - 1) / kStep, begin = steps * rank / kTile.splits,
            end = steps * (rank + 1) / kTile.splits;
  const int count = max(0, (end - begin - warp + kTile.warps_n - 1) / kTile.warps_n);
  const Lane lane{args.a + at.a + (row0 + g) * args.a_row + t * kChunk,
                  args.b + at.b + (column0 + g) * args.b_column + t * kChunk,
                  args.a_row,
                  args.b_column,
                  args.m - row0 - g,
                  args.n - column0 - g,
                  args.k - t * kChunk,
                  begin + warp};
  Step ring[kTile.stages];
  if constexpr (kTile.splits > 1) arrive_cluster();  // has begun
  if constexpr (kTile.b_constant)
    pdl_launch();
  else
    pdl_wait();
#pragma unroll
  for (int u = 0; u < kTile.stages; ++u)
    if (u < count) lane.load_b(ring[u], u);
  if constexpr (kTile.b_constant) pdl_wait();
#pragma unroll
  for (int u = 0; u < kTile.stages; ++u)
    if (u < count) lane.load_a(ring[u], u);
  Sums sums;
  for (int i = 0; i < count; i += kTile.stages)
#pragma unroll
    for (int u = 0; u < kTile.stages; ++u) {
      if (i + u >= count) break;
      multiply_step(sums, ring[u]);
      if (i + u + kTile.stages < count) {
        lane.load_b(ring[u], i + u + kTile.stages);
        lane.load_a(ring[u], i + u + kTile.stages);
      }
    }
  keep(sums, parts[warp], g, t);
  __syncthreads();
  if constexpr (kTile.splits > 1) {
    wait_cluster();
    if (rank != 0) send(parts, received[rank - 1]);
    arrive_cluster();
    wait_cluster();
    if (rank != 0) return;
  }
  write_results(args, parts, received, at.c, row0, column0);
}

}  // namespace kiln
