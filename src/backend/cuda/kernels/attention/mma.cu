// softmax(q k^T * scale + mask) v on tensor cores by mma.sync: a block has a tile of queries of one head and goes over
// the keys; scores stay in registers.
// Defines: DEPTH (of q, k, v and the result, rounded up to 16, 32, 64 or 128), WARPS, ROWS (16 or 32 queries a warp),
// KEYS (a stage), PIECE (bytes that are aligned and wholly inside or outside), and those of arguments.cuh.
#include "attention/arguments.cuh"
#include "device.cuh"
#include "gemm/tile.cuh"

namespace kiln {

constexpr int kThreads = WARPS * 32, kQueries = WARPS * ROWS, kBlocksM = ROWS / 16, kBlocksK = KEYS / 8,
              kBlocksD = DEPTH / 8;
using QTile = Tile<ELEMENT, kQueries, DEPTH, true>;
using KTile = Tile<ELEMENT, KEYS, DEPTH, true>;
using VTile = Tile<ELEMENT, KEYS, DEPTH, false>;
constexpr int kStageBytes = KTile::kBytes + VTile::kBytes;

struct Scores {
  float at[kBlocksM][kBlocksK][4];
};
struct Sums {
  float at[kBlocksM][kBlocksD][4];
};

__device__ __forceinline__ void multiply_keys(Scores& scores, unsigned q, unsigned k, int warp_row) {
#pragma unroll
  for (int step = 0; step < DEPTH / 16; ++step) {
    unsigned a[kBlocksM][4];
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i) load_a<ELEMENT, QTile, true>(a[i], q, warp_row + i * 16, step);
#pragma unroll
    for (int j = 0; j < kBlocksK; j += 2) {
      unsigned b[4];
      load_b<ELEMENT, KTile, true>(b, k, j * 8, step);
#pragma unroll
      for (int i = 0; i < kBlocksM; ++i) {
        multiply(scores.at[i][j], a[i], b[0], b[1], ELEMENT{});
        multiply(scores.at[i][j + 1], a[i], b[2], b[3], ELEMENT{});
      }
    }
  }
}

/// Scores become weights; sums and totals of keys before are rescaled where a row's peak has risen.
__device__ __forceinline__ void weigh(const AttentionArguments& args, Scores& scores, Sums& sums,
                                      RunningSoftmax<kBlocksM * 2>& softmax, const ELEMENT* mask, int row0, int key0) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < kBlocksM; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = row0 + i * 16 + half * 8 + lane / 4, r = i * 2 + half;
      float largest = kHidden;
#pragma unroll
      for (int j = 0; j < kBlocksK; ++j) {
        float &x = scores.at[i][j][half * 2], &y = scores.at[i][j][half * 2 + 1];
        finish_scores(args, x, y, mask + row * args.mask_strides.row, row, key0 + j * 8 + lane % 4 * 2);
        largest = fmaxf(largest, fmaxf(x, y));
      }
      const float factor = softmax.raise(r, largest), base = softmax.base(r);
      float total = 0;
#pragma unroll
      for (int j = 0; j < kBlocksK; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& x = scores.at[i][j][half * 2 + e];
          x = power_of_two(x - base);
          total += x;
        }
      softmax.total[r] += total;
#pragma unroll
      for (int j = 0; j < kBlocksD; ++j) {
        sums.at[i][j][half * 2] *= factor;
        sums.at[i][j][half * 2 + 1] *= factor;
      }
    }
}

__device__ __forceinline__ void multiply_values(Sums& sums, const Scores& weights, unsigned v) {
#pragma unroll
  for (int step = 0; step < KEYS / 16; ++step) {
    unsigned a[kBlocksM][4];  // what a product left of two blocks of keys is the left operand of the next
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float(&block)[4] = weights.at[i][step * 2 + j / 2];
        a[i][j] = pack2<ELEMENT>(block[j % 2 * 2], block[j % 2 * 2 + 1]);
      }
#pragma unroll
    for (int j = 0; j < kBlocksD; j += 2) {
      unsigned b[4];
      load_b<ELEMENT, VTile, false>(b, v, j * 8, step);
#pragma unroll
      for (int i = 0; i < kBlocksM; ++i) {
        multiply(sums.at[i][j], a[i], b[0], b[1], ELEMENT{});
        multiply(sums.at[i][j + 1], a[i], b[2], b[3], ELEMENT{});
      }
    }
  }
}

__device__ __forceinline__ void write(const AttentionArguments& args, const Sums& sums,
                                      const RunningSoftmax<kBlocksM * 2>& softmax, ELEMENT* out, int row0) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < kBlocksM * 2; ++r) {
    const int row = row0 + r * 8 + lane / 4;
    const float sum = softmax.sum(r);
    if (row >= args.queries) continue;
    ELEMENT* line = out + row * args.out_strides.row;
#pragma unroll
    for (int j = 0; j < kBlocksD; ++j) {
      const int column = j * 8 + lane % 4 * 2;
      const float x = normalized(sums.at[r / 2][j][r % 2 * 2], sum),
                  y = normalized(sums.at[r / 2][j][r % 2 * 2 + 1], sum);
      if (PIECE >= 4) {  // even depths and strides: two columns are one word
        if (column < args.value_depth) *reinterpret_cast<unsigned*>(line + column) = pack2<ELEMENT>(x, y);
      } else {
        if (column < args.value_depth) line[column] = from_float<ELEMENT>(x);
        if (column + 1 < args.value_depth) line[column + 1] = from_float<ELEMENT>(y);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) attention_mma(const __grid_constant__ AttentionArguments args) {
  extern __shared__ __align__(128) unsigned char raw[];
  const unsigned shared = shared_address(raw), stages = shared + QTile::kBytes;
  const int tiles = (args.queries + kQueries - 1) / kQueries;
  const int tile = blockIdx.x % tiles, head = blockIdx.x / tiles % args.heads, batch = blockIdx.x / tiles / args.heads;
  const int kv_head = head / (args.heads / args.kv_heads);
  const ELEMENT* q =
      args.q + batch * args.q_strides.batch + head * args.q_strides.head + tile * kQueries * args.q_strides.row;
  const ELEMENT* k = args.k + batch * args.k_strides.batch + kv_head * args.k_strides.head;
  const ELEMENT* v = args.v + batch * args.v_strides.batch + kv_head * args.v_strides.head;
  const ELEMENT* mask = args.mask + batch * args.mask_strides.batch + head * args.mask_strides.head;
  const int warp_row = threadIdx.x / 32 * ROWS, row0 = tile * kQueries + warp_row,
            steps = (args.keys + KEYS - 1) / KEYS;
  const auto copy = [&](int step) {
    const unsigned stage = stages + step % 2 * kStageBytes;
    const int left = args.keys - step * KEYS;
    KTile::copy<kThreads, PIECE>(stage, k + step * KEYS * args.k_strides.row, args.k_strides.row, left, args.depth);
    VTile::copy<kThreads, PIECE>(stage + KTile::kBytes, v + step * KEYS * args.v_strides.row, args.v_strides.row, left,
                                 args.value_depth);
  };
  pdl_wait();
  QTile::copy<kThreads, PIECE>(shared, q, args.q_strides.row, args.queries - tile * kQueries, args.depth);
  if (steps > 0) copy(0);
  commit_copies();
  Sums sums = {};
  RunningSoftmax<kBlocksM * 2> softmax;
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) copy(step + 1);
    commit_copies();
    wait_for_copies<1>();
    __syncthreads();
    const unsigned stage = stages + step % 2 * kStageBytes;
    Scores scores = {};
    multiply_keys(scores, shared, stage, warp_row);
    weigh(args, scores, sums, softmax, mask, row0, step * KEYS);
    multiply_values(sums, scores, stage + KTile::kBytes);
    __syncthreads();  // before the stage is filled again
  }
  pdl_launch();
  write(args, sums, softmax, args.out + batch * args.out_strides.batch + head * args.out_strides.head, row0);
}

}  // namespace kiln
