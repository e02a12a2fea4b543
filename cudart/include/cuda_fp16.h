// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Half-precision floats on the host, with the names of CUDA 13.0: conversions, operators, intrinsics.

#include "kiln_toolkit_floats.h"

#if KILN_TOOLKIT_FLOATS
#pragma GCC system_header  // for include_next
#include_next <cuda_fp16.h>
#elif !defined(__CUDA_FP16_H__)
#define __CUDA_FP16_H__

#include "vector_functions.h"
#include "vector_types.h"

//! A bit pattern.
typedef struct __align__(2) {
  unsigned short x;
} __half_raw;
//! Two of them.
typedef struct __align__(4) {
  unsigned short x, y;
} __half2_raw;

#if defined(__cplusplus)

#include "kiln_sixteen_bits.h"

struct __nv_bfloat16;

//! IEEE's binary16: 5 exponent bits, 10 mantissa bits.
struct __align__(2) __half : kiln_cudart::SixteenBits<__half, __half_raw, kiln_cudart::Half> {
  using SixteenBits::SixteenBits;
  __half() = default;
  explicit __half(const __nv_bfloat16& other);  //!< In cuda_bf16.h.
};

//! Two of them side by side.
struct __align__(4) __half2 : kiln_cudart::SixteenBitsPair<__half2, __half2_raw, __half, __half_raw> {
  using SixteenBitsPair::SixteenBitsPair;
  __half2() = default;
};
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;

// Conversions; _rn rounds to the nearest, _rz toward 0, _rd down and _ru up.
inline __half __ushort_as_half(const unsigned short int bits) {
  __half_raw raw;
  raw.x = bits;
  return __half(raw);
}
inline __half __short_as_half(const short int bits) { return __ushort_as_half(static_cast<unsigned short>(bits)); }
inline unsigned short int __half_as_ushort(const __half h) { return static_cast<__half_raw>(h).x; }
inline short int __half_as_short(const __half h) { return static_cast<short>(__half_as_ushort(h)); }
inline float __half2float(const __half h) { return h; }
inline __half __float2half(const float value) { return value; }
inline __half __double2half(const double value) { return value; }
inline __half __float2half_rn(const float value) {
  return __ushort_as_half(
      static_cast<unsigned short>(kiln_cudart::encode<kiln_cudart::Half>(value, kiln_cudart::kNearestEven)));
}
inline __half __float2half_rz(const float value) {
  return __ushort_as_half(
      static_cast<unsigned short>(kiln_cudart::encode<kiln_cudart::Half>(value, kiln_cudart::kTowardZero)));
}
inline __half __float2half_rd(const float value) {
  return __ushort_as_half(
      static_cast<unsigned short>(kiln_cudart::encode<kiln_cudart::Half>(value, kiln_cudart::kDown)));
}
inline __half __float2half_ru(const float value) {
  return __ushort_as_half(static_cast<unsigned short>(kiln_cudart::encode<kiln_cudart::Half>(value, kiln_cudart::kUp)));
}
inline __half __int2half_rn(const int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kNearestEven)));
}
inline __half __int2half_rz(const int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kTowardZero)));
}
inline __half __int2half_rd(const int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kDown)));
}
inline __half __int2half_ru(const int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kUp)));
}
inline __half __uint2half_rn(const unsigned int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kNearestEven)));
}
inline __half __uint2half_rz(const unsigned int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kTowardZero)));
}
inline __half __uint2half_rd(const unsigned int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kDown)));
}
inline __half __uint2half_ru(const unsigned int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kUp)));
}
inline __half __short2half_rn(const short int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kNearestEven)));
}
inline __half __short2half_rz(const short int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kTowardZero)));
}
inline __half __short2half_rd(const short int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kDown)));
}
inline __half __short2half_ru(const short int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kUp)));
}
inline __half __ushort2half_rn(const unsigned short int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kNearestEven)));
}
inline __half __ushort2half_rz(const unsigned short int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kTowardZero)));
}
inline __half __ushort2half_rd(const unsigned short int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kDown)));
}
inline __half __ushort2half_ru(const unsigned short int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<double>(value), kiln_cudart::kUp)));
}
inline __half __ll2half_rn(const long long int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<long double>(value), kiln_cudart::kNearestEven)));
}
inline __half __ll2half_rz(const long long int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<long double>(value), kiln_cudart::kTowardZero)));
}
inline __half __ll2half_rd(const long long int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<long double>(value), kiln_cudart::kDown)));
}
inline __half __ll2half_ru(const long long int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<long double>(value), kiln_cudart::kUp)));
}
inline __half __ull2half_rn(const unsigned long long int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<long double>(value), kiln_cudart::kNearestEven)));
}
inline __half __ull2half_rz(const unsigned long long int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<long double>(value), kiln_cudart::kTowardZero)));
}
inline __half __ull2half_rd(const unsigned long long int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<long double>(value), kiln_cudart::kDown)));
}
inline __half __ull2half_ru(const unsigned long long int value) {
  return __ushort_as_half(static_cast<unsigned short>(
      kiln_cudart::encode<kiln_cudart::Half>(static_cast<long double>(value), kiln_cudart::kUp)));
}
inline signed char __half2char_rz(const __half h) {
  return kiln_cudart::to_integer<signed char>(h, kiln_cudart::kTowardZero);
}
inline unsigned char __half2uchar_rz(const __half h) {
  return kiln_cudart::to_integer<unsigned char>(h, kiln_cudart::kTowardZero);
}
inline int __half2int_rz(const __half h) { return kiln_cudart::to_integer<int>(h, kiln_cudart::kTowardZero); }
inline unsigned int __half2uint_rz(const __half h) {
  return kiln_cudart::to_integer<unsigned int>(h, kiln_cudart::kTowardZero);
}
inline short int __half2short_rz(const __half h) {
  return kiln_cudart::to_integer<short int>(h, kiln_cudart::kTowardZero);
}
inline unsigned short int __half2ushort_rz(const __half h) {
  return kiln_cudart::to_integer<unsigned short int>(h, kiln_cudart::kTowardZero);
}
inline long long int __half2ll_rz(const __half h) {
  return kiln_cudart::to_integer<long long int>(h, kiln_cudart::kTowardZero);
}
inline unsigned long long int __half2ull_rz(const __half h) {
  return kiln_cudart::to_integer<unsigned long long int>(h, kiln_cudart::kTowardZero);
}

inline __half2 make_half2(const __half x, const __half y) { return __half2(x, y); }
inline __half2 __halves2half2(const __half x, const __half y) { return __half2(x, y); }
inline __half2 __half2half2(const __half h) { return __half2(h, h); }
inline __half2 __float2half2_rn(const float value) { return __half2(__half(value), __half(value)); }
inline __half2 __floats2half2_rn(const float x, const float y) { return __half2(__half(x), __half(y)); }
inline __half2 __float22half2_rn(const float2 pair) { return __floats2half2_rn(pair.x, pair.y); }
inline float2 __half22float2(const __half2 pair) { return float2{pair.x, pair.y}; }
inline __half __low2half(const __half2 pair) { return pair.x; }
inline __half __high2half(const __half2 pair) { return pair.y; }
inline __half2 __low2half2(const __half2 pair) { return __half2(pair.x, pair.x); }
inline __half2 __high2half2(const __half2 pair) { return __half2(pair.y, pair.y); }
inline __half2 __lows2half2(const __half2 a, const __half2 b) { return __half2(a.x, b.x); }
inline __half2 __highs2half2(const __half2 a, const __half2 b) { return __half2(a.y, b.y); }

#endif  // defined(__cplusplus)

#endif  // __CUDA_FP16_H__
