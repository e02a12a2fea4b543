// Scores in the registers that a product of 16 rows leaves them in: scores[j] of lane l are columns j * 8 + 2 * (l % 4)
// and the next of row l / 4, and of the row eight below.
#pragma once
#include "attention/arguments.cuh"

namespace kiln {

inline constexpr float kHidden = __builtin_bit_cast(float, 0xff800000u);  ///< the score of a key that is not seen
inline constexpr float kLog2e = 1.4426950408889634f;

/// Hides keys that do not exist, and keys behind the last one that a row sees. `key` belongs to the first column.
template <int kBlocks>
__device__ __forceinline__ void hide(const AttentionArguments& args, float (&scores)[kBlocks][4], int row0, int key) {
  const int lane = threadIdx.x % 32;
  const int last = kTile.causal ? min(args.keys, row0 + args.causal_offset + 1) : args.keys;
  if (key + kBlocks * 8 <= last) return;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    int seen = args.keys - key - lane % 4 * 2;
    if constexpr (kTile.causal) seen = min(seen, row0 + r * 8 + lane / 4 + args.causal_offset + 1 - key - lane % 4 * 2);
#pragma unroll
    for (int j = 0; j < kBlocks; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (j * 8 + e >= seen) scores[j][r * 2 + e] = kHidden;
  }
}

/// What a mask adds to a thread's scores. Two neighbours of a row share a word.
template <int kBlocks, class T = Element>
struct MaskWords {
  unsigned at[2][kBlocks];

  /// `mask` is the head's. Loads pairs where rows begin at even elements.
  __device__ __forceinline__ void load(const AttentionArguments& args, const T* mask, int row0, int key) {
    const int lane = threadIdx.x % 32;
    const bool pairs = (reinterpret_cast<unsigned long long>(mask) & 3) == 0 && (args.mask_strides.row & 1) == 0 &&
                       key + kBlocks * 8 <= args.keys;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = min(row0 + r * 8 + lane / 4, args.queries - 1);
      const T* line = mask + row * args.mask_strides.row;
      if (pairs) {
#pragma unroll
        for (int j = 0; j < kBlocks; ++j)
          at[r][j] = *reinterpret_cast<const unsigned*>(line + key + j * 8 + lane % 4 * 2);
      } else {
#pragma unroll
        for (int j = 0; j < kBlocks; ++j) {
          const int first = min(key + j * 8 + lane % 4 * 2, args.keys - 1), second = min(first + 1, args.keys - 1);
          at[r][j] = line[first].bits | unsigned(line[second].bits) << 16;
        }
      }
    }
  }
  /// Adds the mask to scores that are not scaled yet.
  __device__ __forceinline__ void add(float (&scores)[kBlocks][4], float scale) const {
    const float factor = 1 / scale;
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int j = 0; j < kBlocks; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          scores[j][r * 2 + e] += quotient(T{static_cast<unsigned short>(at[r][j] >> e * 16)}, factor);
  }

 private:
  static __device__ __forceinline__ float quotient(f16 x, float factor) { return to_float(x) * factor; }
  /// The least numbers stay finite, so that a row that has only such scores does not count as a row of hidden keys. NaN
  /// stays NaN.
  static __device__ __forceinline__ float quotient(bf16 x, float factor) {
    const float wide = to_float(x);
    return wide == kHidden ? kHidden : greater(wide * factor, -1e38f);
  }
};
template <int kBlocks>
struct MaskWords<kBlocks, float> {
  float2 at[2][kBlocks];

  __device__ __forceinline__ void load(const AttentionArguments& args, const float* mask, int row0, int key) {
    const int lane = threadIdx.x % 32;
    const bool pairs = (reinterpret_cast<unsigned long long>(mask) & 7) == 0 && (args.mask_strides.row & 1) == 0 &&
                       key + kBlocks * 8 <= args.keys;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float* line = mask + min(row0 + r * 8 + lane / 4, args.queries - 1) * args.mask_strides.row;
#pragma unroll
      for (int j = 0; j < kBlocks; ++j) {
        const int first = key + j * 8 + lane % 4 * 2;
        if (pairs)
          at[r][j] = *reinterpret_cast<const float2*>(line + first);
        else
          at[r][j] = make_float2(line[min(first, args.keys - 1)], line[min(first + 1, args.keys - 1)]);
      }
    }
  }
  __device__ __forceinline__ void add(float (&scores)[kBlocks][4], float scale) const {
    const float factor = 1 / scale;
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int j = 0; j < kBlocks; ++j) {
        scores[j][r * 2] += quotient(at[r][j].x, factor);
        scores[j][r * 2 + 1] += quotient(at[r][j].y, factor);
      }
  }

 private:
  static __device__ __forceinline__ float quotient(float x, float factor) {
    return x == kHidden ? kHidden : greater(x * factor, -1e38f);
  }
};

/// The running softmax of a thread's two rows. Weights are powers of two, relative to a base: the largest score so far,
/// or one that few scores exceed. Sums are rescaled only when the largest score grows by much. The largest score leaves
/// out NaN, whose weight is NaN, and so is then the row's sum.
struct RunningSoftmax {
  /// The base of a row whose seen keys are all masked: they weigh alike. FP32 and BF16 masks end here, too.
  static constexpr float kLost = -1e38f;

  float base[2] = {kHidden, kHidden}, total[2] = {0, 0};

  /// Turns scores into weights. `factor` is what the sums so far are multiplied by. `scale` (positive) includes
  /// log2(e).
  template <int kBlocks>
  __device__ __forceinline__ void weigh(float (&scores)[kBlocks][4], float (&factor)[2], float scale) {
    constexpr float kMostExponent = 8;  // of a weight: halves hold 2^15
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float even = scores[0][r * 2], odd = scores[0][r * 2 + 1];
#pragma unroll
      for (int j = 1; j < kBlocks; ++j) {
        even = fmaxf(even, scores[j][r * 2]);
        odd = fmaxf(odd, scores[j][r * 2 + 1]);
      }
      const float found = quad_max(fmaxf(even, odd)), largest = is_lost(found, scale) ? kLost : found;
      const bool rises = largest > base[r] + __fdividef(kMostExponent, scale);
      factor[r] = rises ? power_of_two((base[r] - largest) * scale) : 1.f;
      if (rises) base[r] = largest;
      const float from = origin(scores, r, base[r], scale);
      even = odd = 0;
#pragma unroll
      for (int j = 0; j < kBlocks; ++j) {
        scores[j][r * 2] = power_of_two(fmaf(scores[j][r * 2], scale, -from));
        scores[j][r * 2 + 1] = power_of_two(fmaf(scores[j][r * 2 + 1], scale, -from));
        even += scores[j][r * 2];
        odd += scores[j][r * 2 + 1];
      }
      total[r] = fmaf(total[r], factor[r], even + odd);
    }
  }
  /// What is subtracted from the row's scores times the scale to have the exponents of their weights. Where only masked
  /// keys were seen, the base times the scale would be rounded by more than an exponent: such scores become
  /// differences.
  template <int kBlocks>
  static __device__ __forceinline__ float origin(float (&scores)[kBlocks][4], int r, float base, float scale) {
    if (base == kHidden) return 0;  // -inf minus -inf would be NaN
    if (!kTile.has_mask || base * scale > -16384.F) return base * scale;
#pragma unroll
    for (int j = 0; j < kBlocks; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float& score = scores[j][r * 2 + e];
        score = base == kLost && score > kHidden ? 0.f : score - base;
      }
    return 0;
  }
  /// The sum of a row's weights.
  __device__ __forceinline__ float sum(int r) const {
    float sum = total[r];
    sum += __shfl_xor_sync(kAllLanes, sum, 1);
    return sum + __shfl_xor_sync(kAllLanes, sum, 2);
  }
  /// Whether the mask hides even the row's largest score. Only masks that were FP32 do: they are -57344
  /// (kLargestHalfMask) or less, and scores are small beside that.
  static __device__ __forceinline__ bool is_lost(float largest, float scale) {
    return kTile.least_hides && largest != kHidden && largest * scale < -53248.F * kLog2e;
  }
  /// The maximum over the four lanes that share a row.
  static __device__ __forceinline__ float quad_max(float x) {
    x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, 1));
    return fmaxf(x, __shfl_xor_sync(kAllLanes, x, 2));
  }
};

/// Rescales sums after the base of their weights rose.
template <int kBlocks>
__device__ __forceinline__ void rescale(float (&sums)[kBlocks][4], const float (&factor)[2]) {
  if (!__any_sync(kAllLanes, factor[0] != 1.f || factor[1] != 1.f)) return;
#pragma unroll
  for (int j = 0; j < kBlocks; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[j][i] *= factor[i / 2];
}

inline constexpr int kStep = 32 / sizeof(Element);  ///< of an instruction along k

template <class T>
__device__ __forceinline__ void pack_step(unsigned (&weights)[4], const float (*blocks)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (sizeof(T) == 4)  // of keys 2q and 2q + 1 of lane q of a quad, as q and q + 4
      weights[i] = round_operand(__float_as_uint(blocks[0][i % 2 * 2 + i / 2]), T{});
    else
      weights[i] = pack2<T>(blocks[i / 2][i % 2 * 2], blocks[i / 2][i % 2 * 2 + 1]);
  }
}
/// Makes the result of one product (blocks of keys) the left operand of the next. For TF32 the keys change places, as
/// key_of_line does it for the values.
template <int kBlocks>
__device__ __forceinline__ void pack(unsigned (&weights)[kBlocks * 8 / kStep][4], const float (&scores)[kBlocks][4]) {
#pragma unroll
  for (int step = 0; step < kBlocks * 8 / kStep; ++step) pack_step<Element>(weights[step], scores + step * (kStep / 8));
}
/// The key in a line of a tile of values.
__device__ __forceinline__ int key_of_line(int line) {
  return sizeof(Element) == 4 ? (line & ~7) + (line & 3) * 2 + (line >> 2 & 1) : line;
}

/// One over a sum of weights. A query that sees no key gives NaN, or 0 where a guard says so.
__device__ __forceinline__ float inverse(float sum) {
  if (kTile.nan_rows_are_zero && !(sum > 0)) return 0;
  return __fdividef(1.f, sum);
}

inline constexpr bool kQuantizes = sizeof(Result) == 1;

/// What weighted sums of values are multiplied by: one over the sum of the weights, and over the scale of bytes.
__device__ __forceinline__ float result_factor(const AttentionArguments& args, float sum) {
  return kQuantizes ? inverse(sum) * args.out_inverse : inverse(sum);
}
/// A sum of weighted values times its result_factor. Weights that are NaN count as zeros where a guard says so.
__device__ __forceinline__ float scaled(float sum, float factor) {
  if (kTile.nan_rows_are_zero && factor == 0) return 0;
  return sum * factor;
}
/// A result times its factor, as what is rounded when it is written: integers are rounded before the zero point.
__device__ __forceinline__ float shifted(const AttentionArguments& args, float x) {
  return kIsByte<Result> ? rintf(x) + args.out_zero : x;
}
/// Two neighbours of a row in a word, those of bytes in its low half.
template <class R>
__device__ __forceinline__ unsigned pack_results(const AttentionArguments& args, float x, float y) {
  if constexpr (sizeof(R) == 1)
    return pack4<R>(shifted(args, x), shifted(args, y), 0, 0);
  else
    return pack2<R>(x, y);
}
/// Writes eight neighbours, from the words of pack_results.
template <class R>
__device__ __forceinline__ void store_eight(R* to, const unsigned (&words)[4]) {
  if constexpr (sizeof(R) == 1)
    *reinterpret_cast<uint2*>(to) =
        make_uint2(__byte_perm(words[0], words[1], 0x5410), __byte_perm(words[2], words[3], 0x5410));
  else
    *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
}

/// Word i of lane q of a quad becomes word q of its lane i.
__device__ __forceinline__ void transpose_quad(unsigned (&words)[4]) {
#pragma unroll
  for (int bit = 1; bit < 4; bit *= 2) {
    const bool upper = threadIdx.x & bit;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i & bit) continue;
      const unsigned got = __shfl_xor_sync(kAllLanes, upper ? words[i] : words[i | bit], bit);
      (upper ? words[i] : words[i | bit]) = got;
    }
  }
}

/// Writes 16 rows of results, by eight: depths and strides are multiples of eight elements.
template <int kBlocks>
__device__ __forceinline__ void store_rows(const AttentionArguments& args, const float (&sums)[kBlocks][4],
                                           const RunningSoftmax& softmax, Result* out, int row0) {
  static_assert(kBlocks % 4 == 0, "lanes of a quad have a block each");
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = row0 + r * 8 + lane / 4;
    const float factor = result_factor(args, softmax.sum(r));
#pragma unroll
    for (int j = 0; j < kBlocks; j += 4) {
      unsigned words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        words[i] =
            pack_results<Result>(args, scaled(sums[j + i][r * 2], factor), scaled(sums[j + i][r * 2 + 1], factor));
      transpose_quad(words);
      const int column = (j + lane % 4) * 8;
      if (row < args.queries && column < args.value_depth)
        store_eight(out + row * args.out_strides.row + column, words);
    }
  }
}

}  // namespace kiln
