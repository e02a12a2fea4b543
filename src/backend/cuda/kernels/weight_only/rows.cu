// C = epilogue(A * numbers of quantized weights), of few rows: weights stream from memory into registers, become
// integers there, and are mma.sync's left operand (of FP32, plain FMA's). Sums of a block's products by integers are
// exact up to FP32's rounding; its scale multiplies them. A block's slice of A is in shared memory. Warps share columns
// in panels of 16, then k; the blocks of a cluster share k. Partial sums are added in the order of the warps, then of
// the blocks. The prelude has Element (of A), Result, Scale and Epilogue.
#include "gemm/vectors.cuh"
#include "ptx/hopper.cuh"
#include "weight_only/numbers.cuh"

namespace kiln {

using Arguments = cuda::WeightOnlyArgumentsOf<Element, Result, Scale, Epilogue>;

constexpr bool kByTensorCores = sizeof(Element) == 2;
constexpr int kThreads = kTile.warps * 32, kParts = kTile.warps / kTile.panels, kHalves = kTile.bm / 8;
constexpr int kColumns = kTile.panels * WeightPieces::kColumns;
constexpr int kStep = WeightPieces::step(kTile.bits), kFolds = kStep / kTile.fold, kChunk = 16 / sizeof(Element);
constexpr int kPadding = 32 / sizeof(Element);  // between rows of A: eight rows lie in different banks
static_assert(kTile.warps % kTile.panels == 0 && kTile.bm % 8 == 0 && kStep % kTile.fold == 0 && kTile.fold % 16 == 0,
              "whole panels, halves and blocks");

/// A step's operands but for A.
struct Step {
  unsigned low[4], high[4];  ///< columns g and g + 8
  ScaleAt<Scale> scale[kFolds][2];
};

/// A warp's way through its panel: steps from `first` on, every kParts-th.
struct Lane {
  const Arguments& args;
  int group, first, g, t;
  const unsigned char* weights;

  __device__ __forceinline__ void load(Step& step, int i) const {
    const int at = first + i * kParts;
    const unsigned char* from = weights + static_cast<long long>(at) * WeightPieces::kBytes;
    stream_global_4(step.low, from);
    stream_global_4(step.high, from + WeightPieces::kBytes / 2);
#pragma unroll
    for (int f = 0; f < kFolds; ++f) {
      const int block = (at * kStep + f * kTile.fold) / args.block;
      step.scale[f][0] = load_scale(args, group, block, g);
      step.scale[f][1] = load_scale(args, group, block, g + 8);
    }
  }
};

/// Sums of columns (g, g + 8) by rows: of tensor cores rows 2 * t and the next of each half, as multiply() has them; of
/// FMA all rows, over this lane's share of k.
struct Sums {
  float at[kHalves][kByTensorCores ? 4 : 16];
};

/// Adds a step's products; T is Element. `a` is row 0 of A in shared memory, at the step's k.
template <class T>
__device__ __forceinline__ void multiply_step(Sums& sums, const Step& step, const T* a, int pitch, int g, int t) {
#pragma unroll
  for (int f = 0; f < kFolds; ++f) {
    const Numbers<T, kTile.bits> low(step.scale[f][0].zero), high(step.scale[f][1].zero);
    const float low_scale = step.scale[f][0].value(), high_scale = step.scale[f][1].value();
    float part[kHalves][kByTensorCores ? 4 : 16] = {};
#pragma unroll
    for (int j = 0; j < kTile.fold / 16; ++j) {
      const int i = f * (kTile.fold / 16) + j;
      if constexpr (sizeof(T) == 2) {
        unsigned left[4];
        low.pairs(step.low, i, left[0], left[2]);
        high.pairs(step.high, i, left[1], left[3]);
#pragma unroll
        for (int h = 0; h < kHalves; ++h) {
          const uint2 x = *reinterpret_cast<const uint2*>(a + (h * 8 + g) * pitch + i * 16 + t * 4);
          multiply(part[h], left, x.x, x.y, T{});
        }
      } else {
        float l[4], u[4];
        low.floats(step.low, i, l);
        high.floats(step.high, i, u);
#pragma unroll
        for (int row = 0; row < kTile.bm; ++row) {
          const float4 x = *reinterpret_cast<const float4*>(a + row * pitch + i * 16 + t * 4);
          float* to = part[row / 8] + row % 8 * 2;
          to[0] += x.x * l[0] + x.y * l[1] + (x.z * l[2] + x.w * l[3]);
          to[1] += x.x * u[0] + x.y * u[1] + (x.z * u[2] + x.w * u[3]);
        }
      }
    }
#pragma unroll
    for (int h = 0; h < kHalves; ++h)
#pragma unroll
      for (int i = 0; i < (kByTensorCores ? 4 : 16); ++i)
        sums.at[h][i] += part[h][i] * ((kByTensorCores ? i < 2 : i % 2 == 0) ? low_scale : high_scale);
  }
}

/// A warp's sums, a row of C each; the padding keeps its writes apart.
using Part = float[kTile.bm][WeightPieces::kColumns + 4];

__device__ __forceinline__ void keep_sums(Sums& sums, Part& part, int g, int t) {
#pragma unroll
  for (int h = 0; h < kHalves; ++h)
    if constexpr (kByTensorCores) {
#pragma unroll
      for (int i = 0; i < 4; ++i) part[h * 8 + t * 2 + i % 2][g + i / 2 * 8] = sums.at[h][i];
    } else {
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        const float sum = warp_fold<4>(sums.at[h][i], Plus());
        if (t == 0) part[h * 8 + i / 2][g + i % 2 * 8] = sum;
      }
    }
}
/// A vector of the sums over the warps that share k.
template <int V>
__device__ __forceinline__ void add_warps(float (&x)[V], const Part (&parts)[kTile.warps], int row, int column) {
#pragma unroll
  for (int w = 0; w < kParts; ++w)
#pragma unroll
    for (int v = 0; v < V; ++v)
      x[v] += parts[w * kTile.panels + column / WeightPieces::kColumns][row][column % WeightPieces::kColumns + v];
}

using Received = float[kTile.bm][kColumns];

/// The block's sums, to the cluster's first.
__device__ __forceinline__ void send_sums(const Part (&parts)[kTile.warps], Received& received) {
  for (int i = threadIdx.x; i < kTile.bm * kColumns / 4; i += kThreads) {
    const int row = i / (kColumns / 4), column = i % (kColumns / 4) * 4;
    float x[4] = {};
    add_warps(x, parts, row, column);
    store_remote(remote_address(shared_address(&received[row][column]), 0), x);
  }
}
__device__ __forceinline__ void write_results(const Arguments& args, const Part (&parts)[kTile.warps],
                                              const Received* received, int row0, int column0) {
  const int rows = min(kTile.bm, args.m - row0);
  for (int i = threadIdx.x; i < rows * (kColumns / kTile.vec); i += kThreads) {
    const int row = i / (kColumns / kTile.vec), column = i % (kColumns / kTile.vec) * kTile.vec;
    if (column0 + column >= args.n) continue;
    float x[kTile.vec] = {};
    add_warps(x, parts, row, column);
#pragma unroll
    for (int s = 0; s < kTile.splits - 1; ++s)
#pragma unroll
      for (int v = 0; v < kTile.vec; ++v) x[v] += received[s][row][column + v];
    const long long index = static_cast<long long>(row0 + row) * args.n + column0 + column;
    args.epilogue.apply(x, index, column0 + column);
    store_vector(args.c + index, x);
  }
}

/// Copies rows of A, columns [k0, k0 + count) of them, zeros beyond k. Rows beyond m are left: they reach only sums
/// that nobody reads.
__device__ __forceinline__ void stage_rows(const Arguments& args, Element* to, int pitch, int row0, int k0, int count) {
  const int chunks = count / kChunk, rows = min(kTile.bm, args.m - row0);
  for (int i = threadIdx.x; i < rows * chunks; i += kThreads) {
    const int row = i / chunks, at = i % chunks * kChunk;
    const bool valid = k0 + at < args.k;
    copy_async<16>(shared_address(to + row * pitch + at), args.a + (row0 + row) * args.a_row + (valid ? k0 + at : 0),
                   valid);
  }
  commit_copies();
  wait_for_copies<0>();
}

extern "C" __global__ void __launch_bounds__(kThreads) weight_only_rows(const __grid_constant__ Arguments args) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ alignas(16) Part parts[kTile.warps];
  __shared__ alignas(16) Received received[kTile.splits > 1 ? kTile.splits - 1 : 1];
  const int groups = (args.n + WeightPieces::kColumns - 1) / WeightPieces::kColumns,
            tiles_n = (groups + kTile.panels - 1) / kTile.panels, tile = blockIdx.x / kTile.splits;
  const int rank = kTile.splits == 1 ? 0 : cluster_rank(), warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4,
            t = threadIdx.x % 4;
  const int row0 = tile / tiles_n * kTile.bm, group = tile % tiles_n * kTile.panels + warp % kTile.panels;
  const int steps = (args.k + kStep - 1) / kStep, begin = steps * rank / kTile.splits,
            end = steps * (rank + 1) / kTile.splits, part = warp / kTile.panels;
  const int count = group < groups ? max(0, (end - begin - part + kParts - 1) / kParts) : 0;
  const Lane lane{args,
                  group,
                  begin + part,
                  g,
                  t,
                  args.weights + static_cast<long long>(group) * steps * WeightPieces::kBytes +
                      threadIdx.x % 32 * WeightPieces::kLaneBytes};
  Step ring[kTile.stages];
  if constexpr (kTile.splits > 1) arrive_cluster();  // has begun
  pdl_launch();
#pragma unroll
  for (int u = 0; u < kTile.stages; ++u)
    if (u < count) lane.load(ring[u], u);
  pdl_wait();
  Element* const a = reinterpret_cast<Element*>(shared);
  const int width = (end - begin) * kStep, pitch = width + kPadding;
  stage_rows(args, a, pitch, row0, begin * kStep, width);
  __syncthreads();
  Sums sums = {};
  for (int i = 0; i < count; i += kTile.stages)
#pragma unroll
    for (int u = 0; u < kTile.stages; ++u) {
      if (i + u >= count) break;
      multiply_step(sums, ring[u], a + (part + (i + u) * kParts) * kStep, pitch, g, t);
      if (i + u + kTile.stages < count) lane.load(ring[u], i + u + kTile.stages);
    }
  keep_sums(sums, parts[warp], g, t);
  __syncthreads();
  if constexpr (kTile.splits > 1) {
    wait_cluster();
    if (rank != 0) send_sums(parts, received[rank - 1]);
    arrive_cluster();
    wait_cluster();
    if (rank != 0) return;
  }
  write_results(args, parts, received, row0, tile % tiles_n * kColumns);
}

}  // namespace kiln
