// Weights in their bits become pairs of halves, or floats.
#pragma once
#include "backend/cuda/kernels/weight_only/arguments.h"
#include "ptx/mma.cuh"

namespace kiln {

using cuda::WeightPieces;

/// A float without a sign whose last bits are `bits`: 2^23 + bits.
__device__ __forceinline__ float float_of(unsigned bits) { return __uint_as_float(0x4b000000u | bits); }
constexpr float kFloatOffset = 8388608.0f;

/// Numbers of kBits bits less a zero point. Integers of this size are exact in halves, and so are these sums.
template <class T, int kBits>
struct Numbers;

/// A number of each half whose last bits are free for an integer below 16: it adds that to kOffset.
template <class T>
struct Magic;
template <>
struct Magic<f16> {
  static constexpr unsigned kPair = 0x64006400u;
  static constexpr float kOffset = 1024;
};
template <>
struct Magic<bf16> {
  static constexpr unsigned kPair = 0x43004300u;
  static constexpr float kOffset = 128;
};

/// Four bits: those of a half become the last of Magic's, from which its offset and the zero point go.
template <class T>
struct Numbers<T, 4> {
  static constexpr unsigned kMagic = Magic<T>::kPair;
  static constexpr float kOffset = Magic<T>::kOffset;
  unsigned offset;  ///< -(kOffset + zero point), twice
  __device__ __forceinline__ explicit Numbers(float zero) : offset(pack2<T>(-kOffset - zero, -kOffset - zero)) {}
  /// The four numbers of part i, of a lane's 16 numbers along k: two pairs.
  __device__ __forceinline__ void pairs(const unsigned (&word)[4], int i, unsigned& low, unsigned& high) const {
    const unsigned x = word[i / 2] >> (i % 2 * 8);
    low = add_pair(mask_in(x, 0x000f000fu, kMagic), offset, T{});
    high = add_pair(mask_in(x >> 4, 0x000f000fu, kMagic), offset, T{});
  }
};
template <>
struct Numbers<float, 4> {
  float offset;
  __device__ __forceinline__ explicit Numbers(float zero) : offset(kFloatOffset + zero) {}
  __device__ __forceinline__ void floats(const unsigned (&word)[4], int i, float (&x)[4]) const {
    const unsigned half = word[i / 2] >> (i % 2 * 8);
    x[0] = float_of(half & 15) - offset, x[1] = float_of(half >> 16 & 15) - offset;
    x[2] = float_of(half >> 4 & 15) - offset, x[3] = float_of(half >> 20 & 15) - offset;
  }
};
/// Eight bits, by way of floats.
template <>
struct Numbers<float, 8> {
  float offset;
  __device__ __forceinline__ explicit Numbers(float zero) : offset(kFloatOffset + zero) {}
  __device__ __forceinline__ void floats(const unsigned (&word)[4], int i, float (&x)[4]) const {
#pragma unroll
    for (int u = 0; u < 4; ++u) x[u] = float_of(word[i] >> (8 * u) & 255) - offset;
  }
};
template <class T>
struct Numbers<T, 8> {
  Numbers<float, 8> of_floats;
  __device__ __forceinline__ explicit Numbers(float zero) : of_floats(zero) {}
  __device__ __forceinline__ void pairs(const unsigned (&word)[4], int i, unsigned& low, unsigned& high) const {
    float x[4];
    of_floats.floats(word, i, x);
    low = pack2<T>(x[0], x[1]), high = pack2<T>(x[2], x[3]);
  }
};

/// The scale and the zero point of a column in a block.
template <class Scale>
struct ScaleAt {
  Scale scale;
  unsigned char zero;

  __device__ __forceinline__ float value() const { return to_float(scale); }
};
template <class Arguments>
__device__ __forceinline__ auto load_scale(const Arguments& args, int group, int block, int column) {
  const long long at =
      (static_cast<long long>(group) * args.blocks + min(block, args.blocks - 1)) * WeightPieces::kColumns + column;
  ScaleAt<Scale> result;
  result.scale = args.scales[at];
  result.zero = kTile.has_zeros ? args.zeros[at] : 1 << (kTile.bits - 1);
  return result;
}

}  // namespace kiln
