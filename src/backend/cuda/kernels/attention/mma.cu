// softmax(q k^T * scale + mask) v on tensor cores by mma.sync, of floats in TF32: a block has a tile of queries of one
// head and goes over the keys; scores stay in registers.
#include "attention/scores.cuh"
#include "gemm/tile.cuh"

namespace kiln {

constexpr int kThreads = kTile.warps * 32, kQueries = kTile.warps * kTile.rows, kBlocksM = kTile.rows / 16,
              kBlocksK = kTile.keys / 8, kBlocksD = kTile.depth / 8;
using QTile = Tile<Element, kQueries, kTile.depth, true>;
using KTile = Tile<Element, kTile.keys, kTile.depth, true>;
using VTile = Tile<Element, kTile.keys, kTile.depth, false>;
constexpr int kStageBytes = KTile::kBytes + VTile::kBytes;

struct Scores {
  float at[kBlocksM][kBlocksK][4];
};
struct Sums {
  float at[kBlocksM][kBlocksD][4];
};

__device__ __forceinline__ void multiply_keys(Scores& scores, unsigned q, unsigned k, int warp_row) {
#pragma unroll
  for (int step = 0; step < kTile.depth / kStep; ++step) {
    unsigned a[kBlocksM][4];
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i) load_a<Element, QTile, true>(a[i], q, warp_row + i * 16, step);
#pragma unroll
    for (int j = 0; j < kBlocksK; j += 2) {
      unsigned b[4];
      load_b<Element, KTile, true>(b, k, j * 8, step);
#pragma unroll
      for (int i = 0; i < kBlocksM; ++i) {
        multiply(scores.at[i][j], a[i], b[0], b[1], Element{});
        multiply(scores.at[i][j + 1], a[i], b[2], b[3], Element{});
      }
    }
  }
}

__device__ __forceinline__ void multiply_values(Sums& sums, const Scores& weights, unsigned v) {
  unsigned a[kBlocksM][kTile.keys / kStep][4];
#pragma unroll
  for (int i = 0; i < kBlocksM; ++i) pack(a[i], weights.at[i]);
#pragma unroll
  for (int step = 0; step < kTile.keys / kStep; ++step)
#pragma unroll
    for (int j = 0; j < kBlocksD; j += 2) {
      unsigned b[4];
      load_b<Element, VTile, false>(b, v, j * 8, step);
#pragma unroll
      for (int i = 0; i < kBlocksM; ++i) {
        multiply(sums.at[i][j], a[i][step], b[0], b[1], Element{});
        multiply(sums.at[i][j + 1], a[i][step], b[2], b[3], Element{});
      }
    }
}

/// Like VTile::copy, but keys go to the lines that key_of_line says.
template <class T>
__device__ __forceinline__ void copy_values(unsigned tile, const T* from, long long pitch, int lines, int length) {
  if constexpr (sizeof(T) == 2) {
    VTile::copy<kThreads, kTile.piece>(tile, from, pitch, lines, length);
  } else {
    constexpr int kEach = 16 / sizeof(T), kElements = kTile.piece / sizeof(T);
#pragma unroll
    for (int i = threadIdx.x; i < kTile.keys * VTile::kChunks; i += kThreads) {
      const int line = i / VTile::kChunks, chunk = i % VTile::kChunks, key = key_of_line(line);
#pragma unroll
      for (int piece = 0; piece < 16 / kTile.piece; ++piece) {
        const int first = chunk * kEach + piece * kElements;
        const bool valid = key < lines && first < length;
        copy_async<kTile.piece>(VTile::at(tile, line, chunk) + piece * kTile.piece,
                                valid ? from + key * pitch + first : from, valid);
      }
    }
  }
}

/// Writes two neighbours of a line, with one instruction if their alignment allows it.
template <class T>
__device__ __forceinline__ void write_pair(const AttentionArguments& args, T* line, int column, float x, float y) {
  const int end = args.value_depth;
  if (kTile.piece >= 2 * sizeof(Element)) {  // even depths and strides
    if (column >= end) return;
    if constexpr (sizeof(T) == 1)
      *reinterpret_cast<unsigned short*>(line + column) = static_cast<unsigned short>(pack_results<T>(args, x, y));
    else if constexpr (sizeof(T) == 2)
      *reinterpret_cast<unsigned*>(line + column) = pack_results<T>(args, x, y);
    else
      *reinterpret_cast<float2*>(line + column) = make_float2(x, y);
  } else {
    if (column < end) line[column] = from_float<T>(shifted(args, x));
    if (column + 1 < end) line[column + 1] = from_float<T>(shifted(args, y));
  }
}

/// Writes 16 rows of results of any alignment.
__device__ __forceinline__ void write(const AttentionArguments& args, const float (&sums)[kBlocksD][4],
                                      const RunningSoftmax& softmax, Result* out, int row0) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = row0 + r * 8 + lane / 4;
    const float factor = result_factor(args, softmax.sum(r));
    if (row >= args.queries) continue;
    Result* line = out + row * args.out_strides.row;
#pragma unroll
    for (int j = 0; j < kBlocksD; ++j)
      write_pair(args, line, j * 8 + lane % 4 * 2, scaled(sums[j][r * 2], factor), scaled(sums[j][r * 2 + 1], factor));
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) attention_mma(const __grid_constant__ AttentionArguments args) {
  extern __shared__ __align__(128) unsigned char raw[];
  const unsigned shared = shared_address(raw), stages = shared + QTile::kBytes;
  const AttentionTile tile = attention_tile<kQueries>(args, blockIdx.x);
  const int kv_head = tile.head / (args.heads / args.kv_heads);
  const Element* q =
      args.q + tile.batch * args.q_strides.batch + tile.head * args.q_strides.head + tile.first * args.q_strides.row;
  const Element* k = args.k + tile.batch * args.k_strides.batch + kv_head * args.k_strides.head;
  const Element* v = args.v + tile.batch * args.v_strides.batch + kv_head * args.v_strides.head;
  Result* out = args.out + tile.batch * args.out_strides.batch + tile.head * args.out_strides.head;
  const int warp_row = threadIdx.x / 32 * kTile.rows, row0 = tile.first + warp_row,
            steps = (tile.keys + kTile.keys - 1) / kTile.keys;
  const auto copy = [&](int step) {
    const unsigned stage = stages + step % 2 * kStageBytes;
    const int left = args.keys - step * kTile.keys;
    KTile::copy<kThreads, kTile.piece>(stage, k + step * kTile.keys * args.k_strides.row, args.k_strides.row, left,
                                       args.depth);
    copy_values(stage + KTile::kBytes, v + step * kTile.keys * args.v_strides.row, args.v_strides.row, left,
                args.value_depth);
    commit_copies();
  };
  pdl_wait();
  QTile::copy<kThreads, kTile.piece>(shared, q, args.q_strides.row, args.queries - tile.first, args.depth);
  if (args.keys > 0) copy(0);
  Sums sums = {};
  RunningSoftmax softmax[kBlocksM];
  for (int step = 0; step < steps && args.keys > 0; ++step) {
    MaskWords<kBlocksK> words[kBlocksM];
    if constexpr (kTile.has_mask) {
      const Element* mask = args.mask + tile.batch * args.mask_strides.batch + tile.head * args.mask_strides.head;
#pragma unroll
      for (int i = 0; i < kBlocksM; ++i) words[i].load(args, mask, row0 + i * 16, step * kTile.keys);
    }
    wait_for_copies<0>();
    __syncthreads();  // this stage has arrived, and no warp reads the other one any more
    if (step + 1 < steps) copy(step + 1);
    const unsigned stage = stages + step % 2 * kStageBytes;
    Scores scores = {};
    multiply_keys(scores, shared, stage, warp_row);
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i) {
      float factor[2];
      if constexpr (kTile.has_mask) words[i].add(scores.at[i], args.scale);
      hide(args, scores.at[i], row0 + i * 16, step * kTile.keys);
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
