// softmax(q k^T * scale + mask) v on tensor cores by mma.sync, of floats in TF32: a block has a tile of queries of one
// head and goes over the keys; scores stay in registers. Defines: DEPTH (of q, k, v and the result, rounded up to 16,
// 32, 64 or 128), WARPS, ROWS (16 or 32 queries a warp), KEYS (a stage), PIECE (bytes that are aligned and wholly
// inside or outside), and those of arguments.cuh.
#include "attention/scores.cuh"
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
  for (int step = 0; step < DEPTH / kStep; ++step) {
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

__device__ __forceinline__ void multiply_values(Sums& sums, const Scores& weights, unsigned v) {
  unsigned a[kBlocksM][KEYS / kStep][4];
#pragma unroll
  for (int i = 0; i < kBlocksM; ++i) pack(a[i], weights.at[i]);
#pragma unroll
  for (int step = 0; step < KEYS / kStep; ++step)
#pragma unroll
    for (int j = 0; j < kBlocksD; j += 2) {
      unsigned b[4];
      load_b<ELEMENT, VTile, false>(b, v, j * 8, step);
#pragma unroll
      for (int i = 0; i < kBlocksM; ++i) {
        multiply(sums.at[i][j], a[i][step], b[0], b[1], ELEMENT{});
        multiply(sums.at[i][j + 1], a[i][step], b[2], b[3], ELEMENT{});
      }
    }
}

/// Like VTile::copy, but keys go to the lines that key_of_line says.
template <class T>
__device__ __forceinline__ void copy_values(unsigned tile, const T* from, long long pitch, int lines, int length) {
  if constexpr (sizeof(T) == 2) {
    VTile::copy<kThreads, PIECE>(tile, from, pitch, lines, length);
  } else {
    constexpr int kEach = 16 / sizeof(T), kElements = PIECE / sizeof(T);
#pragma unroll
    for (int i = threadIdx.x; i < KEYS * VTile::kChunks; i += kThreads) {
      const int line = i / VTile::kChunks, chunk = i % VTile::kChunks, key = key_of_line(line);
#pragma unroll
      for (int piece = 0; piece < 16 / PIECE; ++piece) {
        const int first = chunk * kEach + piece * kElements;
        const bool valid = key < lines && first < length;
        copy_async<PIECE>(VTile::at(tile, line, chunk) + piece * PIECE, valid ? from + key * pitch + first : from,
                          valid);
      }
    }
  }
}

/// Loads two neighbours of a line, with one instruction if their alignment allows it.
template <class T>
__device__ __forceinline__ void write_pair(T* line, int column, int end, float x, float y) {
  if (PIECE >= 2 * sizeof(T)) {  // even depths and strides
    if (column >= end) return;
    if constexpr (sizeof(T) == 2)
      *reinterpret_cast<unsigned*>(line + column) = pack2<T>(x, y);
    else
      *reinterpret_cast<float2*>(line + column) = make_float2(x, y);
  } else {
    if (column < end) line[column] = from_float<T>(x);
    if (column + 1 < end) line[column + 1] = from_float<T>(y);
  }
}

/// Writes 16 rows of results of any alignment.
__device__ __forceinline__ void write(const AttentionArguments& args, const float (&sums)[kBlocksD][4],
                                      const RunningSoftmax& softmax, ELEMENT* out, int row0) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = row0 + r * 8 + lane / 4;
    const float factor = inverse(softmax.sum(r));
    if (row >= args.queries) continue;
    ELEMENT* line = out + row * args.out_strides.row;
#pragma unroll
    for (int j = 0; j < kBlocksD; ++j)
      write_pair(line, j * 8 + lane % 4 * 2, args.value_depth, sums[j][r * 2] * factor, sums[j][r * 2 + 1] * factor);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) attention_mma(const __grid_constant__ AttentionArguments args) {
  extern __shared__ __align__(128) unsigned char raw[];
  const unsigned shared = shared_address(raw), stages = shared + QTile::kBytes;
  const AttentionTile tile = attention_tile<kQueries>(args, blockIdx.x);
  const int kv_head = tile.head / (args.heads / args.kv_heads);
  const ELEMENT* q =
      args.q + tile.batch * args.q_strides.batch + tile.head * args.q_strides.head + tile.first * args.q_strides.row;
  const ELEMENT* k = args.k + tile.batch * args.k_strides.batch + kv_head * args.k_strides.head;
  const ELEMENT* v = args.v + tile.batch * args.v_strides.batch + kv_head * args.v_strides.head;
  ELEMENT* out = args.out + tile.batch * args.out_strides.batch + tile.head * args.out_strides.head;
  const int warp_row = threadIdx.x / 32 * ROWS, row0 = tile.first + warp_row, steps = (tile.keys + KEYS - 1) / KEYS;
  const auto copy = [&](int step) {
    const unsigned stage = stages + step % 2 * kStageBytes;
    const int left = args.keys - step * KEYS;
    KTile::copy<kThreads, PIECE>(stage, k + step * KEYS * args.k_strides.row, args.k_strides.row, left, args.depth);
    copy_values(stage + KTile::kBytes, v + step * KEYS * args.v_strides.row, args.v_strides.row, left,
                args.value_depth);
    commit_copies();
  };
  pdl_wait();
  QTile::copy<kThreads, PIECE>(shared, q, args.q_strides.row, args.queries - tile.first, args.depth);
  if (args.keys > 0) copy(0);
  Sums sums = {};
  RunningSoftmax softmax[kBlocksM];
  for (int step = 0; step < steps && args.keys > 0; ++step) {
#if HAS_MASK
    const ELEMENT* mask = args.mask + tile.batch * args.mask_strides.batch + tile.head * args.mask_strides.head;
    MaskWords<kBlocksK> words[kBlocksM];
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i) words[i].load(args, mask, row0 + i * 16, step * KEYS);
#endif
    wait_for_copies<0>();
    __syncthreads();  // this stage has arrived, and no warp reads the other one any more
    if (step + 1 < steps) copy(step + 1);
    const unsigned stage = stages + step % 2 * kStageBytes;
    Scores scores = {};
    multiply_keys(scores, shared, stage, warp_row);
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i) {
      float factor[2];
#if HAS_MASK
      words[i].add(scores.at[i], args.scale);
#endif
      hide(args, scores.at[i], row0 + i * 16, step * KEYS);
      softmax[i].weigh(scores.at[i], factor, args.scale * kLog2e);
      rescale(sums.at[i], factor);
    }
    multiply_values(sums, scores, stage + KTile::kBytes);
  }
  pdl_launch();
#pragma unroll
  for (int i = 0; i < kBlocksM; ++i) write(args, sums.at[i], softmax[i], out, row0 + i * 16);
}

}  // namespace kiln
