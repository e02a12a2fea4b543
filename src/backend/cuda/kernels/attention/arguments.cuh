// What kernels of attention are given. Defines: ELEMENT (f16 or bf16), HAS_MASK, NAN_ROWS_ARE_ZERO.
#pragma once
#include "device.cuh"
#include "gemm/mma.cuh"

namespace kiln {

inline constexpr float kHidden = __builtin_bit_cast(float, 0xff800000u);  ///< the score of a key that is not seen

/// Elements from one index to the next; channels are contiguous. 0 repeats.
struct HeadStrides {
  long long batch, head, row;
};
/// The host's struct of the same name (attention/attention.h) has this layout.
struct AttentionArguments {
  const ELEMENT *q, *k, *v, *mask;
  ELEMENT* out;
  HeadStrides q_strides, k_strides, v_strides, mask_strides, out_strides;
  int batch, heads, kv_heads, queries, keys, depth, value_depth;
  float scale;
};

/// 2^x to 22 bits; 0 of -infinity.
__device__ __forceinline__ float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// A softmax on its way over keys, for the rows that a thread has parts of. Powers are of two.
template <int kRows>
struct RunningSoftmax {
  float peak[kRows], total[kRows];
  __device__ RunningSoftmax() {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      peak[i] = kHidden;
      total[i] = 0;
    }
  }
  /// Takes in the largest new score of a row; gives the factor of what was summed before.
  __device__ __forceinline__ float raise(int row, float score) {
    // The four lanes of a row's quad.
    score = fmaxf(score, __shfl_xor_sync(kAllLanes, score, 1));
    score = fmaxf(score, __shfl_xor_sync(kAllLanes, score, 2));
    const float before = peak[row], now = fmaxf(before, score);
    peak[row] = now;
    const float factor = before == kHidden ? 0.f : power_of_two(before - now);
    total[row] *= factor;
    return factor;
  }
  /// What weights are taken relative to: no row of hidden keys makes -inf minus -inf.
  __device__ __forceinline__ float base(int row) const { return peak[row] == kHidden ? 0.f : peak[row]; }
  /// The sum of a row's weights.
  __device__ __forceinline__ float sum(int row) const {
    float sum = total[row];
    sum += __shfl_xor_sync(kAllLanes, sum, 1);
    sum += __shfl_xor_sync(kAllLanes, sum, 2);
    return sum;
  }
};

/// A weighted sum over its weights' sum. A query that sees no key gives NaN, or 0 where a guard says so.
__device__ __forceinline__ float normalized(float x, float sum) {
#if NAN_ROWS_ARE_ZERO
  if (!(sum > 0)) return 0;
#endif
  return __fdividef(x, sum);
}

/// Two neighbouring scores of a row in units of log2(e): scaled, masked, and -inf for keys that are not there.
__device__ __forceinline__ void finish_scores(const AttentionArguments& args, float& x, float& y,
                                              const ELEMENT* mask_row, int row, int key) {
  constexpr float kLog2e = 1.4426950408889634f;
  const float scale = args.scale * kLog2e;
  x *= scale;
  y *= scale;
#if HAS_MASK
  if (row < args.queries) {
    if (key < args.keys) x = fmaf(to_float(mask_row[key]), kLog2e, x);
    if (key + 1 < args.keys) y = fmaf(to_float(mask_row[key + 1]), kLog2e, y);
  }
#endif
  if (key >= args.keys) x = kHidden;
  if (key + 1 >= args.keys) y = kHidden;
}

}  // namespace kiln
