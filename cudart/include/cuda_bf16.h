// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// BFloat16 on the host, with the names of CUDA 13.0: conversions, operators, intrinsics.

#include "kiln_toolkit_floats.h"

#if KILN_TOOLKIT_FLOATS
#pragma GCC system_header  // for include_next
#include_next <cuda_bf16.h>
#elif !defined(__CUDA_BF16_H__)
#define __CUDA_BF16_H__

#include "cuda_fp16.h"
#include "vector_functions.h"
#include "vector_types.h"

//! A bit pattern.
typedef struct __align__(2) {
  unsigned short x;
} __nv_bfloat16_raw;
//! Two of them.
typedef struct __align__(4) {
  unsigned short x, y;
} __nv_bfloat162_raw;

#if defined(__cplusplus)

#include "kiln_sixteen_bits.h"

//! The upper half of a float: 8 exponent bits, 7 mantissa bits.
struct __align__(2) __nv_bfloat16 : kiln_cudart::SixteenBits<__nv_bfloat16, __nv_bfloat16_raw, kiln_cudart::BFloat16> {
  using SixteenBits::SixteenBits;
  __nv_bfloat16() = default;
  explicit __nv_bfloat16(const __half& other) : __nv_bfloat16(static_cast<float>(other)) {}
};

//! Two of them side by side.
struct __align__(4) __nv_bfloat162
    : kiln_cudart::SixteenBitsPair<__nv_bfloat162, __nv_bfloat162_raw, __nv_bfloat16, __nv_bfloat16_raw> {
  using SixteenBitsPair::SixteenBitsPair;
  __nv_bfloat162() = default;
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

// Conversions; _rn rounds to the nearest, _rz toward 0, _rd down and _ru up.
inline __nv_bfloat16 __ushort_as_bfloat16(const unsigned short int bits) {
  __nv_bfloat16_raw raw;
  raw.x = bits;
  return __nv_bfloat16(raw);
}
inline __nv_bfloat16 __short_as_bfloat16(const short int bits) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(bits));
}
inline unsigned short int __bfloat16_as_ushort(const __nv_bfloat16 h) { return static_cast<__nv_bfloat16_raw>(h).x; }
inline short int __bfloat16_as_short(const __nv_bfloat16 h) { return static_cast<short>(__bfloat16_as_ushort(h)); }
inline float __bfloat162float(const __nv_bfloat16 h) { return h; }
inline __nv_bfloat16 __float2bfloat16(const float value) { return value; }
inline __nv_bfloat16 __double2bfloat16(const double value) { return value; }
inline __nv_bfloat16 __float2bfloat16_rn(const float value) {
  return __ushort_as_bfloat16(
      static_cast<unsigned short>(kiln_cudart::encode<kiln_cudart::BFloat16>(value, kiln_cudart::kNearestEven)));
}
inline __nv_bfloat16 __float2bfloat16_rz(const float value) {
  return __ushort_as_bfloat16(
      static_cast<unsigned short>(kiln_cudart::encode<kiln_cudart::BFloat16>(value, kiln_cudart::kTowardZero)));
}
inline __nv_bfloat16 __float2bfloat16_rd(const float value) {
  return __ushort_as_bfloat16(
      static_cast<unsigned short>(kiln_cudart::encode<kiln_cudart::BFloat16>(value, kiln_cudart::kDown)));
}
inline __nv_bfloat16 __float2bfloat16_ru(const float value) {
  return __ushort_as_bfloat16(
      static_cast<unsigned short>(kiln_cudart::encode<kiln_cudart::BFloat16>(value, kiln_cudart::kUp)));
}
inline __nv_bfloat16 __int2bfloat16_rn(const int value) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::BFloat16>(static_cast<double>(value), kiln_cudart::kNearestEven)));
}
inline __nv_bfloat16 __uint2bfloat16_rn(const unsigned int value) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::BFloat16>(static_cast<double>(value), kiln_cudart::kNearestEven)));
}
inline __nv_bfloat16 __short2bfloat16_rn(const short int value) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::BFloat16>(static_cast<double>(value), kiln_cudart::kNearestEven)));
}
inline __nv_bfloat16 __ushort2bfloat16_rn(const unsigned short int value) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::BFloat16>(static_cast<double>(value), kiln_cudart::kNearestEven)));
}
inline __nv_bfloat16 __ll2bfloat16_rn(const long long int value) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::BFloat16>(static_cast<long double>(value), kiln_cudart::kNearestEven)));
}
inline __nv_bfloat16 __ull2bfloat16_rn(const unsigned long long int value) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::BFloat16>(static_cast<long double>(value), kiln_cudart::kNearestEven)));
}
inline signed char __bfloat162char_rz(const __nv_bfloat16 h) {
  return kiln_cudart::to_integer<signed char>(h, kiln_cudart::kTowardZero);
}
inline unsigned char __bfloat162uchar_rz(const __nv_bfloat16 h) {
  return kiln_cudart::to_integer<unsigned char>(h, kiln_cudart::kTowardZero);
}
inline int __bfloat162int_rz(const __nv_bfloat16 h) {
  return kiln_cudart::to_integer<int>(h, kiln_cudart::kTowardZero);
}
inline unsigned int __bfloat162uint_rz(const __nv_bfloat16 h) {
  return kiln_cudart::to_integer<unsigned int>(h, kiln_cudart::kTowardZero);
}
inline short int __bfloat162short_rz(const __nv_bfloat16 h) {
  return kiln_cudart::to_integer<short int>(h, kiln_cudart::kTowardZero);
}
inline unsigned short int __bfloat162ushort_rz(const __nv_bfloat16 h) {
  return kiln_cudart::to_integer<unsigned short int>(h, kiln_cudart::kTowardZero);
}
inline long long int __bfloat162ll_rz(const __nv_bfloat16 h) {
  return kiln_cudart::to_integer<long long int>(h, kiln_cudart::kTowardZero);
}
inline unsigned long long int __bfloat162ull_rz(const __nv_bfloat16 h) {
  return kiln_cudart::to_integer<unsigned long long int>(h, kiln_cudart::kTowardZero);
}

inline __nv_bfloat162 make_bfloat162(const __nv_bfloat16 x, const __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
inline __nv_bfloat162 __halves2bfloat162(const __nv_bfloat16 x, const __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
inline __nv_bfloat162 __bfloat162bfloat162(const __nv_bfloat16 h) { return __nv_bfloat162(h, h); }
inline __nv_bfloat162 __float2bfloat162_rn(const float value) {
  return __nv_bfloat162(__nv_bfloat16(value), __nv_bfloat16(value));
}
inline __nv_bfloat162 __floats2bfloat162_rn(const float x, const float y) {
  return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y));
}
inline __nv_bfloat162 __float22bfloat162_rn(const float2 pair) { return __floats2bfloat162_rn(pair.x, pair.y); }
inline float2 __bfloat1622float2(const __nv_bfloat162 pair) { return float2{pair.x, pair.y}; }
inline __nv_bfloat16 __low2bfloat16(const __nv_bfloat162 pair) { return pair.x; }
inline __nv_bfloat16 __high2bfloat16(const __nv_bfloat162 pair) { return pair.y; }
inline __nv_bfloat162 __low2bfloat162(const __nv_bfloat162 pair) { return __nv_bfloat162(pair.x, pair.x); }
inline __nv_bfloat162 __high2bfloat162(const __nv_bfloat162 pair) { return __nv_bfloat162(pair.y, pair.y); }
inline __nv_bfloat162 __lows2bfloat162(const __nv_bfloat162 a, const __nv_bfloat162 b) {
  return __nv_bfloat162(a.x, b.x);
}
inline __nv_bfloat162 __highs2bfloat162(const __nv_bfloat162 a, const __nv_bfloat162 b) {
  return __nv_bfloat162(a.y, b.y);
}

inline __half::__half(const __nv_bfloat16& other) : __half(static_cast<float>(other)) {}

#endif  // defined(__cplusplus)

#endif  // __CUDA_BF16_H__
