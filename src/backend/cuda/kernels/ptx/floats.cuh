// Element types as they lie in memory, their conversions, and functions of floats that one instruction computes.
#pragma once

#include <cstdint>

namespace kiln {

struct f16 {
  unsigned short bits;
};
struct bf16 {
  unsigned short bits;
};
/// FP8 of four bits of exponent and three of mantissa, without infinities.
struct e4m3 {
  unsigned char bits;
};

__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
__device__ __forceinline__ float to_float(bf16 x) { return __uint_as_float(unsigned(x.bits) << 16); }
__device__ __forceinline__ float to_float(int8_t x) { return x; }
__device__ __forceinline__ float to_float(uint8_t x) { return x; }
/// Two e4m3 as halves, the first in the low byte and the low half.
__device__ __forceinline__ unsigned halves_of(unsigned short bytes) {
  unsigned pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(bytes));
  return pair;
}
__device__ __forceinline__ float to_float(e4m3 x) {
  return to_float(f16{static_cast<unsigned short>(halves_of(static_cast<unsigned short>(x.bits)))});
}

template <class T>
__device__ __forceinline__ T from_float(float x);
template <>
__device__ __forceinline__ float from_float<float>(float x) {
  return x;
}
template <>
__device__ __forceinline__ f16 from_float<f16>(float x) {
  f16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}
template <>
__device__ __forceinline__ bf16 from_float<bf16>(float x) {
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}

/// Bytes are rounded to even and saturate; NaN is 0, or FP8's own.
template <>
__device__ __forceinline__ int8_t from_float<int8_t>(float x) {
  int y;
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(y) : "f"(x));
  return static_cast<int8_t>(y);
}
template <>
__device__ __forceinline__ uint8_t from_float<uint8_t>(float x) {
  unsigned y;
  asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(y) : "f"(x));
  return static_cast<uint8_t>(y);
}
template <>
__device__ __forceinline__ e4m3 from_float<e4m3>(float x) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0F), "f"(x));
  return {static_cast<unsigned char>(pair)};
}

/// Four neighbours in one word, the first in its low byte; rounded as from_float has it.
template <class T>
__device__ __forceinline__ unsigned pack4(float a, float b, float c, float d);
template <>
__device__ __forceinline__ unsigned pack4<int8_t>(float a, float b, float c, float d) {
  unsigned y;
  asm("{\n.reg .s32 a, b, c, d;\n.reg .b32 high;\n"
      "cvt.rni.s32.f32 a, %1;\ncvt.rni.s32.f32 b, %2;\ncvt.rni.s32.f32 c, %3;\ncvt.rni.s32.f32 d, %4;\n"
      "cvt.pack.sat.s8.s32.b32 high, d, c, 0;\ncvt.pack.sat.s8.s32.b32 %0, b, a, high;\n}"
      : "=r"(y)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return y;
}
template <>
__device__ __forceinline__ unsigned pack4<uint8_t>(float a, float b, float c, float d) {
  unsigned y;
  asm("{\n.reg .s32 a, b, c, d;\n.reg .b32 high;\n"
      "cvt.rni.s32.f32 a, %1;\ncvt.rni.s32.f32 b, %2;\ncvt.rni.s32.f32 c, %3;\ncvt.rni.s32.f32 d, %4;\n"
      "cvt.pack.sat.u8.s32.b32 high, d, c, 0;\ncvt.pack.sat.u8.s32.b32 %0, b, a, high;\n}"
      : "=r"(y)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return y;
}
template <>
__device__ __forceinline__ unsigned pack4<e4m3>(float a, float b, float c, float d) {
  unsigned y;
  asm("{\n.reg .b16 low, high;\ncvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n"
      "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\nmov.b32 %0, {low, high};\n}"
      : "=r"(y)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return y;
}

/// Two neighbours in one word, the first in its low half.
template <class T>
__device__ __forceinline__ unsigned pack2(float low, float high);
template <>
__device__ __forceinline__ unsigned pack2<f16>(float low, float high) {
  unsigned y;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}
template <>
__device__ __forceinline__ unsigned pack2<bf16>(float low, float high) {
  unsigned y;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}

/// x + y of two pairs.
__device__ __forceinline__ unsigned add_pair(unsigned x, unsigned y, f16) {
  unsigned z;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(z) : "r"(x), "r"(0x3c003c00u), "r"(y));
  return z;
}
__device__ __forceinline__ unsigned add_pair(unsigned x, unsigned y, bf16) {
  unsigned z;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(z) : "r"(x), "r"(0x3f803f80u), "r"(y));
  return z;
}
/// (x & mask) | bits, in one instruction.
__device__ __forceinline__ unsigned mask_in(unsigned x, unsigned mask, unsigned bits) {
  unsigned y;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(y) : "r"(x), "r"(mask), "r"(bits));
  return y;
}

/// NaN if either is.
__device__ __forceinline__ float greater(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
__device__ __forceinline__ float lesser(float a, float b) {
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}

/// The greater of each of a word's elements of T, NaN if either is.
template <class T>
__device__ __forceinline__ unsigned greater_word(unsigned a, unsigned b);
template <>
__device__ __forceinline__ unsigned greater_word<float>(unsigned a, unsigned b) {
  return __float_as_uint(greater(__uint_as_float(a), __uint_as_float(b)));
}
template <>
__device__ __forceinline__ unsigned greater_word<f16>(unsigned a, unsigned b) {
  unsigned y;
  asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
}
template <>
__device__ __forceinline__ unsigned greater_word<bf16>(unsigned a, unsigned b) {
  unsigned y;
  asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
}

/// The greater of each half of a word, which is an integer with T's sign.
template <class T>
__device__ __forceinline__ unsigned greater_pair(unsigned a, unsigned b) {
  constexpr bool kSigned = T(-1) < T(0);
#if __CUDA_ARCH__ >= 900
  unsigned y;
  if constexpr (kSigned)
    asm("max.s16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  else
    asm("max.u16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
#else
  const auto greater = [](unsigned x, unsigned y) {
    if constexpr (kSigned)
      return static_cast<unsigned>(max(static_cast<int>(x), static_cast<int>(y)));
    else
      return max(x, y);
  };
  return __byte_perm(greater(a << 16, b << 16), greater(a, b), 0x7632);  // each in the upper half
#endif
}

/// 2^x to 22 bits; 0 of -infinity.
__device__ __forceinline__ float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// 2^x, where results below 2^-126 are subnormal numbers and not 0.
__device__ __forceinline__ float small_power_of_two(float x) {
  float y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float logarithm_of_two(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float square_root(float x) {
  float y;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// 1 / x to 22 bits.
__device__ __forceinline__ float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace kiln
