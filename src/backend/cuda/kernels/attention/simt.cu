// softmax(q k^T * scale + mask) v in FP32 without tensor cores. 16 threads share some rows; each has keys / 16 keys
// of their scores, and depth / 16 channels of their sums.
#include "attention/scores.cuh"

namespace kiln {

constexpr int kLanes = 16, kThreads = 128, kQueries = kThreads / kLanes * kTile.rows;
constexpr int kEachKey = kTile.keys / kLanes, kColumns = kTile.depth / kLanes, kVec = kColumns < 4 ? kColumns : 4;
constexpr int kPitch = kTile.depth + 4,
              kPitchP = kTile.keys + 4;  ///< lines of neighbouring threads begin in different banks

/// Shared memory.
struct Stage {
  float q[kQueries][kPitch], k[kTile.keys][kPitch], v[kTile.keys][kPitch], weights[kQueries][kPitchP];
};

/// Copies lines, with zeros from `lines` and `length` on.
template <int kLines>
__device__ __forceinline__ void copy_lines(float (&to)[kLines][kPitch], const float* from, long long pitch, int lines,
                                           int length) {
  constexpr int kElements = kTile.piece / 4, kPieces = kTile.depth / kElements;
  for (int i = threadIdx.x; i < kLines * kPieces; i += kThreads) {
    const int line = i / kPieces, first = i % kPieces * kElements;
    const bool valid = line < lines && first < length;
    copy_async<kTile.piece>(shared_address(&to[line][first]), valid ? from + line * pitch + first : from, valid);
  }
  commit_copies();
}

/// A thread's keys are kLanes apart.
__device__ __forceinline__ void multiply_keys(float (&scores)[kTile.rows][kEachKey], const float (*q)[kPitch],
                                              const float (*k)[kPitch]) {
#pragma unroll 2
  for (int d = 0; d < kTile.depth; d += 4) {
    Vec<float, 4> a[kTile.rows], b[kEachKey];
#pragma unroll
    for (int r = 0; r < kTile.rows; ++r) a[r] = load_vec<float, 4>(&q[r][d]);
#pragma unroll
    for (int j = 0; j < kEachKey; ++j) b[j] = load_vec<float, 4>(&k[j * kLanes][d]);
#pragma unroll
    for (int e = 0; e < 4; ++e)
#pragma unroll
      for (int r = 0; r < kTile.rows; ++r)
#pragma unroll
        for (int j = 0; j < kEachKey; ++j) scores[r][j] = fmaf(a[r].at[e], b[j].at[e], scores[r][j]);
  }
}
/// A thread's columns: kVec neighbours, and those kLanes * kVec further.
__device__ __forceinline__ void multiply_values(float (&sums)[kTile.rows][kColumns], const float (*weights)[kPitchP],
                                                const float (*v)[kPitch]) {
#pragma unroll 2
  for (int key = 0; key < kTile.keys; key += 4) {
    Vec<float, 4> a[kTile.rows];
#pragma unroll
    for (int r = 0; r < kTile.rows; ++r) a[r] = load_vec<float, 4>(&weights[r][key]);
#pragma unroll
    for (int e = 0; e < 4; ++e)
#pragma unroll
      for (int c = 0; c < kColumns; c += kVec) {
        const Vec<float, kVec> b = load_vec<float, kVec>(&v[key + e][c * kLanes]);
#pragma unroll
        for (int r = 0; r < kTile.rows; ++r)
#pragma unroll
          for (int i = 0; i < kVec; ++i) sums[r][c + i] = fmaf(a[r].at[e], b.at[i], sums[r][c + i]);
      }
  }
}

/// The running softmax over keys, for the rows of half a warp. Weights are powers of two.
struct RowsSoftmax {
  float base[kTile.rows], total[kTile.rows] = {};
  __device__ RowsSoftmax() {
#pragma unroll
    for (int r = 0; r < kTile.rows; ++r) base[r] = kHidden;
  }

  /// Scales and masks the scores, in units of log2(e), and returns the largest.
  __device__ __forceinline__ float finish(const AttentionArguments& args, const float* mask, float (&scores)[kEachKey],
                                          int row, int key) const {
    const int lane = threadIdx.x % kLanes;
    int seen = args.keys - key - lane;  // of this thread's keys, those before it
    if constexpr (kTile.causal) seen = min(seen, row + args.causal_offset + 1 - key - lane);
    float largest = kHidden;
#pragma unroll
    for (int j = 0; j < kEachKey; ++j) {
      const bool is_seen = j * kLanes < seen;
      float x = scores[j] * args.scale;
      if constexpr (kTile.has_mask) {
        if (is_seen) x += mask[min(row, args.queries - 1) * args.mask_strides.row + key + lane + j * kLanes];
        if (x != kHidden) x = greater(x, -1e38f);  // a row of the least numbers only does not count as hidden
      }
      scores[j] = is_seen ? x * kLog2e : kHidden;
      largest = fmaxf(largest, scores[j]);
    }
    return largest;
  }
  /// Writes the weights of new scores, and rescales the sums of those before.
  __device__ __forceinline__ void weigh(const AttentionArguments& args, const float* mask,
                                        float (&scores)[kTile.rows][kEachKey], float (&sums)[kTile.rows][kColumns],
                                        float (*weights)[kPitchP], int row0, int key) {
#pragma unroll
    for (int r = 0; r < kTile.rows; ++r) {
      float largest = finish(args, mask, scores[r], row0 + r, key);
      largest = fmaxf(base[r], warp_fold<kLanes>(largest, [](float a, float b) { return fmaxf(a, b); }));
      const float factor = base[r] == kHidden ? 0.f : power_of_two(base[r] - largest);
      const float from = largest == kHidden ? 0.f : largest;
      base[r] = largest;
      total[r] *= factor;
#pragma unroll
      for (int j = 0; j < kEachKey; ++j) {
        const float weight = power_of_two(scores[r][j] - from);
        total[r] += weight;
        weights[r][j * kLanes + threadIdx.x % kLanes] = weight;
      }
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sums[r][c] *= factor;
    }
  }
};

extern "C" __global__ void __launch_bounds__(kThreads) attention_simt(const __grid_constant__ AttentionArguments args) {
  extern __shared__ __align__(16) unsigned char raw[];
  Stage& stage = *reinterpret_cast<Stage*>(raw);
  const AttentionTile tile = attention_tile<kQueries>(args, blockIdx.x);
  const int lane = threadIdx.x % kLanes, own = threadIdx.x / kLanes * kTile.rows, row0 = tile.first + own;
  const int kv_head = tile.head / (args.heads / args.kv_heads);
  const float* q = args.q + tile.batch * args.q_strides.batch + tile.head * args.q_strides.head;
  const float* k = args.k + tile.batch * args.k_strides.batch + kv_head * args.k_strides.head;
  const float* v = args.v + tile.batch * args.v_strides.batch + kv_head * args.v_strides.head;
  const auto copy_keys = [&](int key) {
    copy_lines(stage.k, k + key * args.k_strides.row, args.k_strides.row, args.keys - key, args.depth);
  };
  const auto copy_values = [&](int key) {
    copy_lines(stage.v, v + key * args.v_strides.row, args.v_strides.row, args.keys - key, args.value_depth);
  };
  const float* mask = args.mask + tile.batch * args.mask_strides.batch + tile.head * args.mask_strides.head;
  float sums[kTile.rows][kColumns] = {};
  RowsSoftmax softmax;
  pdl_wait();
  copy_lines(stage.q, q + tile.first * args.q_strides.row, args.q_strides.row, args.queries - tile.first, args.depth);
  if (tile.keys > 0) copy_keys(0);
  if (tile.keys > 0) copy_values(0);
  for (int key = 0; key < tile.keys; key += kTile.keys) {
    wait_for_copies<1>();
    __syncthreads();
    float scores[kTile.rows][kEachKey] = {};
    multiply_keys(scores, &stage.q[own], &stage.k[lane]);
    __syncthreads();
    const bool more = key + kTile.keys < tile.keys;
    if (more) copy_keys(key + kTile.keys);
    softmax.weigh(args, mask, scores, sums, &stage.weights[own], row0, key);
    if (more)
      wait_for_copies<1>();
    else
      wait_for_copies<0>();
    __syncthreads();
    multiply_values(sums, &stage.weights[own], reinterpret_cast<const float(*)[kPitch]>(&stage.v[0][lane * kVec]));
    __syncthreads();
    if (more) copy_values(key + kTile.keys);
  }
  pdl_launch();
  Result* out = args.out + tile.batch * args.out_strides.batch + tile.head * args.out_strides.head;
#pragma unroll
  for (int r = 0; r < kTile.rows; ++r) {
    const float factor = result_factor(args, warp_fold<kLanes>(softmax.total[r], Plus()));
    if (row0 + r >= args.queries) continue;
#pragma unroll
    for (int c = 0; c < kColumns; c += kVec)
#pragma unroll
      for (int i = 0; i < kVec; ++i) {
        const int column = c * kLanes + lane * kVec + i;
        if (column < args.value_depth)
          out[(row0 + r) * args.out_strides.row + column] =
              from_float<Result>(shifted(args, scaled(sums[r][c + i], factor)));
      }
  }
}

}  // namespace kiln
