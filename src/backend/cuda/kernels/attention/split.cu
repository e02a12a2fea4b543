// softmax(q k^T * scale + mask) v for few queries or short sequences, floats in TF32. A block has 16 queries of one
// head, and its warps share the keys, with those of the other blocks of its cluster. Each warp copies its own keys, so
// that no warp waits for another until the sums are joined at the end: by blocks, then by the cluster's first one.
#include "attention/scores.cuh"
#include "gemm/tile.cuh"
#include "ptx/cluster.cuh"

namespace kiln {

constexpr int kQueries = 16, kWorkers = kTile.cluster * kTile.warps, kBlocksK = kTile.keys / 8,
              kBlocksD = kTile.depth / 8, kJoinPitch = kTile.depth + 8;
using QTile = Tile<Element, kQueries, kTile.depth, true>;
using KTile = Tile<Element, kTile.keys, kTile.depth, true>;
using VTile = Tile<Element, kTile.keys, kTile.depth, false>;

/// Copies lines of a tile by one warp, with zeros from `lines` and `length` on. Only one address at a time is in
/// registers. The keys of values go to the lines that key_of_line says.
template <class T>
__device__ __forceinline__ void copy_lines(unsigned tile, const Element* from, long long pitch, int lines, int length) {
  constexpr int kAtOnce = 32 / T::kChunks, kTotal = T::kBytes / T::kLineBytes,
                kElements = kTile.piece / sizeof(Element);
  constexpr int kWhole = 16 / sizeof(Element);
  const int lane = threadIdx.x % 32, first = lane / T::kChunks, chunk = lane % T::kChunks;
  const Element* at = from + first * pitch + chunk * kWhole;
#pragma unroll
  for (int i = 0; i < kTotal; i += kAtOnce) {
    const unsigned to = T::at(tile, i + first, chunk);
    const int line = T::kWords ? key_of_line(i + first) : i + first;
    if (T::kWords) at = from + line * pitch + chunk * kWhole;
#pragma unroll
    for (int piece = 0; piece < 16 / kTile.piece; ++piece) {
      const bool valid = line < lines && chunk * kWhole + piece * kElements < length;
      copy_async<kTile.piece>(to + piece * kTile.piece, valid ? at + piece * kElements : from, valid);
    }
    at += kAtOnce * pitch;
    keep(at);
  }
}

/// Rows of k or v of one head; where keys are joined, those from key `first` on lie in another tensor.
struct KeyRows {
  const Element *from, *more;
  long long pitch, more_pitch;
  int first;
  __device__ __forceinline__ const Element* at(int key) const {
    return key < first ? from + key * pitch : more + (key - first) * more_pitch;
  }
};
/// copy_lines of joined keys: lines are keys from `key` on, of `keys` in all.
template <class T>
__device__ __forceinline__ void copy_joined_lines(unsigned tile, const KeyRows& rows, int key, int keys, int length) {
  constexpr int kAtOnce = 32 / T::kChunks, kTotal = T::kBytes / T::kLineBytes,
                kElements = kTile.piece / sizeof(Element), kWhole = 16 / sizeof(Element);
  const int lane = threadIdx.x % 32, first = lane / T::kChunks, chunk = lane % T::kChunks;
#pragma unroll
  for (int i = 0; i < kTotal; i += kAtOnce) {
    const unsigned to = T::at(tile, i + first, chunk);
    const int at = key + (T::kWords ? key_of_line(i + first) : i + first);
    const Element* row = rows.at(min(at, keys - 1)) + chunk * kWhole;
#pragma unroll
    for (int piece = 0; piece < 16 / kTile.piece; ++piece) {
      const bool valid = at < keys && chunk * kWhole + piece * kElements < length;
      copy_async<kTile.piece>(to + piece * kTile.piece, valid ? row + piece * kElements : row, valid);
    }
  }
}

/// A warp's result: the base and the sum of each query's weights, and the weighted sums of values.
struct Part {
  float base[kQueries], total[kQueries], sums[kQueries][kJoinPitch];
};

using Scores = float[kBlocksK][4];
using Sums = float[kBlocksD][4];

__device__ __forceinline__ void multiply_keys(Scores& scores, const unsigned (&q)[kTile.depth / kStep][4], unsigned k) {
#pragma unroll
  for (int step = 0; step < kTile.depth / kStep; ++step)
#pragma unroll
    for (int j = 0; j < kBlocksK; j += 2) {
      unsigned b[4];
      load_b<Element, KTile, true>(b, k, j * 8, step);
      multiply(scores[j], q[step], b[0], b[1], Element{});
      multiply(scores[j + 1], q[step], b[2], b[3], Element{});
    }
}
__device__ __forceinline__ void multiply_values(Sums& sums, const unsigned (&weights)[kTile.keys / kStep][4],
                                                unsigned v) {
#pragma unroll
  for (int step = 0; step < kTile.keys / kStep; ++step)
#pragma unroll
    for (int j = 0; j < kBlocksD; j += 2) {
      unsigned b[4];
      load_b<Element, VTile, false>(b, v, j * 8, step);
      multiply(sums[j], weights[step], b[0], b[1], Element{});
      multiply(sums[j + 1], weights[step], b[2], b[3], Element{});
    }
}

/// The bytes of a warp: its copy of q, its keys and values; then its part.
constexpr int kStageBytes = KTile::kBytes + VTile::kBytes, kStagesBytes = QTile::kBytes + kTile.stages * kStageBytes,
              kWarpBytes = kStagesBytes > sizeof(Part) ? kStagesBytes : sizeof(Part);
static_assert(kWarpBytes % 128 == 0, "tiles begin where lines of banks do");

/// A thread's piece of a row, joined.
constexpr int kEach = kQueries * kTile.depth / (kTile.warps * 32);
struct Piece {
  int row, column;  ///< of the block's queries
  float base = kHidden, total = 0, sums[kEach] = {};

  __device__ __forceinline__ Piece()
      : row(threadIdx.x * kEach / kTile.depth), column(threadIdx.x * kEach % kTile.depth) {}
  /// Joins `part(0)` to `part(kParts - 1)`. Exponents are base 2 after `scale`.
  template <int kParts, class PartOf>
  __device__ __forceinline__ void join(float scale, PartOf part) {
#pragma unroll
    for (int w = 0; w < kParts; ++w) base = fmaxf(base, part(w).base[row]);
#pragma unroll
    for (int w = 0; w < kParts; ++w) {
      const Part& p = part(w);
      const float factor = p.base[row] == kHidden ? 0.f : power_of_two((p.base[row] - base) * scale);
      total = fmaf(p.total[row], factor, total);
#pragma unroll
      for (int e = 0; e < kEach; ++e) sums[e] = fmaf(p.sums[row][column + e], factor, sums[e]);
    }
  }
  /// To a part of the cluster's first block, whose barrier counts the bytes.
  __device__ __forceinline__ void send_to(Part& to, unsigned barrier) const {
    if (column == 0) {
      send(&to.base[row], base, barrier, 0);
      send(&to.total[row], total, barrier, 0);
    }
    if constexpr (kEach % 4 == 0) {
#pragma unroll
      for (int e = 0; e < kEach; e += 4)
        send(&to.sums[row][column + e], Vec<float, 4>{{sums[e], sums[e + 1], sums[e + 2], sums[e + 3]}}, barrier, 0);
    } else {
#pragma unroll
      for (int e = 0; e < kEach; ++e) send(&to.sums[row][column + e], sums[e], barrier, 0);
    }
  }
  __device__ __forceinline__ void write(const AttentionArguments& args, Result* out, int row0) const {
    const int to_row = row0 + row;
    if (to_row >= args.queries) return;
    const float factor = result_factor(args, total);
    constexpr int kAtOnce = kTile.piece / sizeof(Element) < kEach ? kTile.piece / sizeof(Element) : kEach;
    Result* to = out + to_row * args.out_strides.row + column;
#pragma unroll
    for (int e = 0; e < kEach; e += kAtOnce) {
      Vec<Result, kAtOnce> result;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) result.at[i] = from_float<Result>(shifted(args, scaled(sums[e + i], factor)));
      if (column + e < args.value_depth) store_vec(to + e, result);
    }
  }
};
/// What a block sends to its cluster's first.
constexpr unsigned kSentBytes = kQueries * (2 + kTile.depth) * sizeof(float);

/// Where a warp's keys and values come from, and its stages in shared memory.
struct Feed {
  const AttentionArguments& args;
  const Element *k, *v;
  unsigned stages;
  const Element *more_k = nullptr, *more_v = nullptr;  ///< of joined keys

  __device__ __forceinline__ unsigned at(int step) const { return stages + step % kTile.stages * kStageBytes; }
  /// Two groups of copies: keys, then values.
  __device__ __forceinline__ void copy(int key, int step) const {
    if constexpr (kTile.joined) {
      const KeyRows keys{k, more_k, args.k_strides.row, args.more_k_strides.row, args.first_keys},
          values{v, more_v, args.v_strides.row, args.more_v_strides.row, args.first_keys};
      copy_joined_lines<KTile>(at(step), keys, key, args.keys, args.depth);
      commit_copies();
      copy_joined_lines<VTile>(at(step) + KTile::kBytes, values, key, args.keys, args.value_depth);
      commit_copies();
      return;
    }
    copy_lines<KTile>(at(step), k + key * args.k_strides.row, args.k_strides.row, args.keys - key, args.depth);
    commit_copies();
    copy_lines<VTile>(at(step) + KTile::kBytes, v + key * args.v_strides.row, args.v_strides.row, args.keys - key,
                      args.value_depth);
    commit_copies();
  }
};

/// The keys of one warp, from `first` on, whose copies have begun.
__device__ __forceinline__ void attend(const AttentionArguments& args, const AttentionTile& tile, const Feed& feed,
                                       int first, unsigned q, const Element* mask, Sums& sums,
                                       RunningSoftmax& softmax) {
  constexpr int kStride = kWorkers * kTile.keys;
  unsigned queries[kTile.depth / kStep][4];
  for (int step = 0, key = first; key < tile.keys; ++step, key += kStride) {
    MaskWords<kBlocksK> words;
    if constexpr (kTile.has_mask) words.load(args, mask, tile.first, key);
    const bool more = kTile.stages > 1 && key + kStride < tile.keys;
    if (more) feed.copy(key + kStride, step + 1);
    more ? wait_for_copies<3>() : wait_for_copies<1>();
    __syncwarp();
    if (step == 0) {
#pragma unroll
      for (int d = 0; d < kTile.depth / kStep; ++d) load_a<Element, QTile, true>(queries[d], q, 0, d);
    }
    Scores scores = {};
    multiply_keys(scores, queries, feed.at(step));
    if constexpr (kTile.has_mask) words.add(scores, args.scale);
    hide(args, scores, tile.first, key);
    float factor[2];
    softmax.weigh(scores, factor, args.scale * kLog2e);
    rescale(sums, factor);
    unsigned weights[kTile.keys / kStep][4];
    pack(weights, scores);
    more ? wait_for_copies<2>() : wait_for_copies<0>();
    __syncwarp();
    multiply_values(sums, weights, feed.at(step) + KTile::kBytes);
    __syncwarp();  // before the stage is filled again
    if (kTile.stages == 1 && key + kStride < tile.keys) feed.copy(key + kStride, step + 1);
  }
}

__device__ __forceinline__ void leave(Part& part, const Sums& sums, const RunningSoftmax& softmax) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int i = r * 8 + lane / 4;
    const float total = softmax.sum(r);
    if (lane % 4 == 0) {
      part.base[i] = softmax.base[r];
      part.total[i] = total;
    }
#pragma unroll
    for (int j = 0; j < kBlocksD; ++j)
      *reinterpret_cast<float2*>(&part.sums[i][j * 8 + lane % 4 * 2]) = make_float2(sums[j][r * 2], sums[j][r * 2 + 1]);
  }
}

extern "C" __global__ void __launch_bounds__(kTile.warps * 32, (kTile.warps == 4 ? 3 : 2) - (kTile.depth > 64))
    attention_split(const __grid_constant__ AttentionArguments args) {
  extern __shared__ __align__(128) unsigned char raw[];
  __shared__ alignas(8) unsigned long long barrier_word;
  const int warp = threadIdx.x / 32, rank = kTile.cluster == 1 ? 0 : cluster_rank(),
            first_key = (rank * kTile.warps + warp) * kTile.keys;
  const unsigned barrier = shared_address(&barrier_word);
  Part* const received = reinterpret_cast<Part*>(raw + kTile.warps * kWarpBytes);  // by the cluster's first block
  if constexpr (kTile.cluster > 1) {
    if (rank == 0 && threadIdx.x == 0) {
      init_barrier(barrier, 1);
      expect_bytes(barrier, (kTile.cluster - 1) * kSentBytes);
    }
    begin_cluster();
  }
  const AttentionTile tile = attention_tile<kQueries>(args, blockIdx.x / kTile.cluster);
  const int kv_head = tile.head / (args.heads / args.kv_heads);
  const Element* q = args.q + tile.batch * args.q_strides.batch + tile.head * args.q_strides.head;
  const unsigned own = shared_address(raw) + warp * kWarpBytes;
  Feed feed{args, args.k + tile.batch * args.k_strides.batch + kv_head * args.k_strides.head,
            args.v + tile.batch * args.v_strides.batch + kv_head * args.v_strides.head, own + QTile::kBytes};
  if constexpr (kTile.joined) {
    feed.more_k = args.more_k + tile.batch * args.more_k_strides.batch + kv_head * args.more_k_strides.head;
    feed.more_v = args.more_v + tile.batch * args.more_v_strides.batch + kv_head * args.more_v_strides.head;
  }
  Sums sums = {};
  RunningSoftmax softmax;
  pdl_wait();
  if (first_key < tile.keys) {
    copy_lines<QTile>(own, q + tile.first * args.q_strides.row, args.q_strides.row, args.queries - tile.first,
                      args.depth);
    feed.copy(first_key, 0);
  }
  pdl_launch();  // the next kernel starts now, and waits for these results itself
  attend(args, tile, feed, first_key, own,
         args.mask + tile.batch * args.mask_strides.batch + tile.head * args.mask_strides.head, sums, softmax);
  leave(*reinterpret_cast<Part*>(raw + warp * kWarpBytes), sums, softmax);
  __syncthreads();
  const auto part = [&](int i) -> const Part& {
    return i < kTile.warps ? *reinterpret_cast<const Part*>(raw + i * kWarpBytes) : received[i - kTile.warps];
  };
  Piece piece;
  const float scale = args.scale * kLog2e;
  if constexpr (kTile.cluster > 1) {
    wait_cluster();  // all have begun
    if (rank != 0) {
      piece.join<kTile.warps>(scale, part);
      piece.send_to(received[rank - 1], barrier);
      return;
    }
    wait_barrier(barrier, 0);
  }
  piece.join<kTile.warps + kTile.cluster - 1>(scale, part);
  piece.write(args, args.out + tile.batch * args.out_strides.batch + tile.head * args.out_strides.head, tile.first);
}

}  // namespace kiln
