// softmax(q k^T * scale + mask) v of q, k and v that are bytes, on tensor cores by mma.sync: a block has a tile of
// queries of one head and goes over the keys, as in attention/mma.cu. Bytes of q and k are multiplied as they are, by
// instructions of bytes; bytes of v become halves in registers, which is exact, and are multiplied by weights in
// halves.
//
// Where weights are rounded (a Quantize and Dequantize behind the softmax), a block goes over the keys twice: a weight
// is rounded after it was divided by the sum of its row, which the first pass finds.
#include "attention/scores.cuh"
#include "gemm/tile.cuh"

namespace kiln {

constexpr int kThreads = kTile.warps * 32, kQueries = kTile.warps * kTile.rows, kBlocksM = kTile.rows / 16,
              kBlocksK = kTile.keys / 8, kBlocksD = kTile.depth / 8;
constexpr int kStepsQ = kTile.depth / 32;  // instructions along the channels of q and k
constexpr int kStepsV = kTile.keys / 16;   // and along the keys of v, which are halves
using QTile = Tile<Operand, kQueries, kTile.depth, true>;
using KTile = Tile<Operand, kTile.keys, kTile.depth, true>;
using VTile = Tile<Operand, kTile.keys, kTile.depth, false>;
constexpr int kStageBytes = KTile::kBytes + VTile::kBytes;

struct Scores {
  float at[kBlocksM][kBlocksK][4];
};
/// Sums of 16 neighbouring channels are two blocks: the first has the even channels, the second the odd ones.
struct Sums {
  float at[kBlocksM][kBlocksD][4];
};

__device__ __forceinline__ void multiply_keys(Scores& scores, unsigned q, unsigned k, int warp_row) {
#pragma unroll
  for (int step = 0; step < kStepsQ; ++step) {
    unsigned a[kBlocksM][4];
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i) load_a<Operand, QTile, true>(a[i], q, warp_row + i * 16, step);
#pragma unroll
    for (int j = 0; j < kBlocksK; j += 2) {
      unsigned b[4];
      load_b<Operand, KTile, true>(b, k, j * 8, step);
#pragma unroll
      for (int i = 0; i < kBlocksM; ++i) {
        multiply(scores.at[i][j], a[i], b[0], b[1], Operand{});
        multiply(scores.at[i][j + 1], a[i], b[2], b[3], Operand{});
      }
    }
  }
  constexpr bool kNarrow = kTile.depth <= 256;  // a sum of so many products of -128 to 127 is within 2^22
#pragma unroll
  for (int i = 0; i < kBlocksM; ++i) make_floats<Operand, kNarrow>(scores.at[i]);
}

/// The bytes of two keys, for each of two neighbouring channels, as halves. A word has both channels of the first key,
/// then those of the second.
__device__ __forceinline__ void split_channels(unsigned word, unsigned& even, unsigned& odd, e4m3) {
  const unsigned pairs = __byte_perm(word, 0, 0x3120);
  even = halves_of(static_cast<unsigned short>(pairs));
  odd = halves_of(static_cast<unsigned short>(pairs >> 16));
}
/// Behind 0x64 a byte without a sign is the last digits of a half from 1024 on.
__device__ __forceinline__ void split_channels(unsigned word, unsigned& even, unsigned& odd, int8_t) {
  constexpr unsigned kDigits = 0x64646464u, kOffset = 0xe480e480u;  // the latter is -1152 twice
  const unsigned shifted = word ^ 0x80808080u;
  even = add_pair(__byte_perm(shifted, kDigits, 0x4240), kOffset, f16{});
  odd = add_pair(__byte_perm(shifted, kDigits, 0x4341), kOffset, f16{});
}

/// The weights of 16 keys a step as the left operand of the second product.
using Weights = unsigned[kBlocksM][kStepsV][4];
__device__ __forceinline__ void pack_weights(Weights& weights, const Scores& scores) {
#pragma unroll
  for (int i = 0; i < kBlocksM; ++i)
#pragma unroll
    for (int step = 0; step < kStepsV; ++step) pack_step<f16>(weights[i][step], scores.at[i] + step * 2);
}

__device__ __forceinline__ void multiply_values(Sums& sums, const Weights& weights, unsigned v) {
  const int lane = threadIdx.x % 32, matrix = lane / 8, line = lane % 8;
#pragma unroll
  for (int step = 0; step < kStepsV; ++step)
#pragma unroll
    for (int chunk = 0; chunk < kTile.depth / 16; chunk += 2) {
      // The matrices, whose elements are two bytes, are keys 0 to 7 and 8 to 15 of a chunk's channels, then those of
      // the next chunk's.
      unsigned words[4];
      load_matrices_transposed(words, VTile::at(v, step * 16 + (matrix & 1) * 8 + line, chunk + (matrix >> 1)));
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        unsigned even[2], odd[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) split_channels(words[c * 2 + half], even[half], odd[half], Operand{});
#pragma unroll
        for (int i = 0; i < kBlocksM; ++i) {
          multiply(sums.at[i][(chunk + c) * 2], weights[i][step], even[0], even[1], f16{});
          multiply(sums.at[i][(chunk + c) * 2 + 1], weights[i][step], odd[0], odd[1], f16{});
        }
      }
    }
}

/// The byte that a weight's share of its row, over the scale of such bytes, is rounded to, as a number. Shares are not
/// negative; NaN is the integer 0, and FP8's own.
__device__ __forceinline__ float rounded(float share, e4m3) { return to_float(from_float<e4m3>(share)); }
__device__ __forceinline__ float rounded(float share, int8_t) { return fminf(fmaxf(rintf(share), 0.f), 127.f); }

/// What a warp knows of 16 of its rows.
struct Rows {
  RunningSoftmax softmax;
  float share[2];  ///< of weights that are rounded: one over the sum of a row's weights and over their scale
};

/// Turns scores into rounded weights.
__device__ __forceinline__ void round_weights(float (&scores)[kBlocksK][4], const Rows& rows, float scale) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float from = RunningSoftmax::origin(scores, r, rows.softmax.base[r], scale);
#pragma unroll
    for (int j = 0; j < kBlocksK; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float& score = scores[j][r * 2 + e];
        score = rounded(power_of_two(fmaf(score, scale, -from)) * rows.share[r], Operand{});
      }
  }
}

/// Turns scores into weights. Of two passes the first one's are for their sums alone, with which the second `begins`.
__device__ __forceinline__ void weigh(const AttentionArguments& args, Rows& rows, float (&scores)[kBlocksK][4],
                                      float (&sums)[kBlocksD][4], bool is_last_pass, bool begins) {
  const float scale = args.scale * kLog2e;
  if (kTile.rounds_weights && is_last_pass) {
    if (begins)
#pragma unroll
      for (int r = 0; r < 2; ++r) rows.share[r] = inverse(rows.softmax.sum(r)) * args.weight_inverse;
    round_weights(scores, rows, scale);
    return;
  }
  float factor[2];
  rows.softmax.weigh(scores, factor, scale);
  if constexpr (!kTile.rounds_weights) rescale(sums, factor);
}

/// Writes four neighbours of a line, with one instruction where alignment allows it.
__device__ __forceinline__ void write_four(const AttentionArguments& args, Result* line, int column,
                                           const float (&x)[4]) {
  const int end = args.value_depth;
  if constexpr (kTile.piece >= 4) {  // depths and strides are multiples of four
    if (column >= end) return;
    Vec<Result, 4> four;
#pragma unroll
    for (int i = 0; i < 4; ++i) four.at[i] = from_float<Result>(shifted(args, x[i]));
    store_vec(line + column, four);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (column + i < end) line[column + i] = from_float<Result>(shifted(args, x[i]));
  }
}

/// Writes 16 rows of results.
__device__ __forceinline__ void write(const AttentionArguments& args, const float (&sums)[kBlocksD][4],
                                      const Rows& rows, Result* out, int row0) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = row0 + r * 8 + lane / 4;
    float factor = args.sum_scale * (kQuantizes ? args.out_inverse : 1.f);
    if constexpr (!kTile.rounds_weights) factor *= inverse(rows.softmax.sum(r));
    if (row >= args.queries) continue;
    Result* line = out + row * args.out_strides.row;
#pragma unroll
    for (int j = 0; j < kBlocksD; j += 2) {
      const float(&even)[4] = sums[j], (&odd)[4] = sums[j + 1];
      const float four[4] = {even[r * 2] * factor, odd[r * 2] * factor, even[r * 2 + 1] * factor,
                             odd[r * 2 + 1] * factor};
      write_four(args, line, j * 8 + lane % 4 * 4, four);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_bytes(const __grid_constant__ AttentionArguments args) {
  extern __shared__ __align__(128) unsigned char raw[];
  const unsigned shared = shared_address(raw), stages = shared + QTile::kBytes;
  const AttentionTile tile = attention_tile<kQueries>(args, blockIdx.x);
  const int kv_head = tile.head / (args.heads / args.kv_heads);
  const Operand* q =
      args.q + tile.batch * args.q_strides.batch + tile.head * args.q_strides.head + tile.first * args.q_strides.row;
  const Operand* k = args.k + tile.batch * args.k_strides.batch + kv_head * args.k_strides.head;
  const Operand* v = args.v + tile.batch * args.v_strides.batch + kv_head * args.v_strides.head;
  const int warp_row = threadIdx.x / 32 * kTile.rows, row0 = tile.first + warp_row;
  // Steps of a pass over the keys. Where there are two passes, the first needs no values.
  const int steps = args.keys > 0 ? (tile.keys + kTile.keys - 1) / kTile.keys : 0,
            last_pass = kTile.rounds_weights ? steps : 0, turns = last_pass + steps;
  const auto key_of = [&](int turn) { return (turn < last_pass ? turn : turn - last_pass) * kTile.keys; };
  const auto copy = [&](int turn) {
    const int key = key_of(turn), left = args.keys - key;
    const unsigned stage = stages + turn % 2 * kStageBytes;
    KTile::copy<kThreads, kTile.piece>(stage, k + key * args.k_strides.row, args.k_strides.row, left, args.depth);
    if (turn >= last_pass)
      VTile::copy<kThreads, kTile.piece>(stage + KTile::kBytes, v + key * args.v_strides.row, args.v_strides.row, left,
                                         args.value_depth);
    commit_copies();
  };
  pdl_wait();
  QTile::copy<kThreads, kTile.piece>(shared, q, args.q_strides.row, args.queries - tile.first, args.depth);
  if (turns > 0) copy(0);
  Sums sums = {};
  Rows rows[kBlocksM];
  for (int turn = 0; turn < turns; ++turn) {
    const int key = key_of(turn);
    MaskWords<kBlocksK> words[kBlocksM];
    if constexpr (kTile.has_mask) {
      const Element* mask = args.mask + tile.batch * args.mask_strides.batch + tile.head * args.mask_strides.head;
#pragma unroll
      for (int i = 0; i < kBlocksM; ++i) words[i].load(args, mask, row0 + i * 16, key);
    }
    wait_for_copies<0>();
    __syncthreads();  // this stage has arrived, and no warp reads the other one any more
    if (turn + 1 < turns) copy(turn + 1);
    const unsigned stage = stages + turn % 2 * kStageBytes;
    Scores scores = {};
    multiply_keys(scores, shared, stage, warp_row);
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i) {
      if constexpr (kTile.has_mask) words[i].add(scores.at[i], args.scale);
      hide(args, scores.at[i], row0 + i * 16, key);
      weigh(args, rows[i], scores.at[i], sums.at[i], turn >= last_pass, turn == last_pass);
    }
    if (turn < last_pass) continue;
    Weights weights;
    pack_weights(weights, scores);
    multiply_values(sums, weights, stage + KTile::kBytes);
  }
  pdl_launch();
  Result* out = args.out + tile.batch * args.out_strides.batch + tile.head * args.out_strides.head;
#pragma unroll
  for (int i = 0; i < kBlocksM; ++i) write(args, sums.at[i], rows[i], out, row0 + i * 16);
}

}  // namespace kiln
