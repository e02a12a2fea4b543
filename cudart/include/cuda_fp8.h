// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Floats of 8 bits on the host, with the names of CUDA 13.0.

#include "kiln_toolkit_floats.h"

#if KILN_TOOLKIT_FLOATS
#pragma GCC system_header  // for include_next
#include_next <cuda_fp8.h>
#elif !defined(__CUDA_FP8_H__)
#define __CUDA_FP8_H__

#include "kiln_eight_bits.h"

typedef unsigned char __nv_fp8_storage_t;     //!< One number.
typedef unsigned short __nv_fp8x2_storage_t;  //!< Two, the first in the lower bits.
typedef unsigned int __nv_fp8x4_storage_t;    //!< Four.

//! What a value beyond the largest number becomes.
typedef enum __nv_saturation_t {
  __NV_NOSAT,      //!< An infinity, or a NaN where there is none.
  __NV_SATFINITE,  //!< The largest number.
} __nv_saturation_t;

//! Names the format of a bit pattern.
typedef enum __nv_fp8_interpretation_t {
  __NV_E4M3,  //!< 4 exponent bits, 3 mantissa bits, no infinity; up to 448.
  __NV_E5M2,  //!< 5 exponent bits, 2 mantissa bits; up to 57344.
} __nv_fp8_interpretation_t;

//! 4 exponent bits, 3 mantissa bits, no infinity; up to 448.
struct __nv_fp8_e4m3 : kiln_cudart::EightBits<kiln_cudart::E4M3> {
  using EightBits::EightBits;
  __nv_fp8_e4m3() = default;
};
//! Two of them.
struct __nv_fp8x2_e4m3 : kiln_cudart::PackedBits<__nv_fp8_e4m3, unsigned short, 8> {
  using PackedBits::PackedBits;
  __nv_fp8x2_e4m3() = default;
};
//! Four of them.
struct __nv_fp8x4_e4m3 : kiln_cudart::PackedBits<__nv_fp8_e4m3, unsigned int, 8> {
  using PackedBits::PackedBits;
  __nv_fp8x4_e4m3() = default;
};

//! 5 exponent bits, 2 mantissa bits; up to 57344.
struct __nv_fp8_e5m2 : kiln_cudart::EightBits<kiln_cudart::E5M2> {
  using EightBits::EightBits;
  __nv_fp8_e5m2() = default;
};
//! Two of them.
struct __nv_fp8x2_e5m2 : kiln_cudart::PackedBits<__nv_fp8_e5m2, unsigned short, 8> {
  using PackedBits::PackedBits;
  __nv_fp8x2_e5m2() = default;
};
//! Four of them.
struct __nv_fp8x4_e5m2 : kiln_cudart::PackedBits<__nv_fp8_e5m2, unsigned int, 8> {
  using PackedBits::PackedBits;
  __nv_fp8x4_e5m2() = default;
};

//! The bit pattern that a value has in a format.
inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double x, const __nv_saturation_t saturate,
                                                 const __nv_fp8_interpretation_t format) {
  const auto overflow = saturate == __NV_SATFINITE ? kiln_cudart::kToLargest : kiln_cudart::kToInfinity;
  const unsigned bits = format == __NV_E4M3
                            ? kiln_cudart::encode<kiln_cudart::E4M3>(x, kiln_cudart::kNearestEven, overflow)
                            : kiln_cudart::encode<kiln_cudart::E5M2>(x, kiln_cudart::kNearestEven, overflow);
  return static_cast<__nv_fp8_storage_t>(bits);
}
inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float x, const __nv_saturation_t saturate,
                                                const __nv_fp8_interpretation_t format) {
  return __nv_cvt_double_to_fp8(x, saturate, format);
}
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw x, const __nv_saturation_t saturate,
                                                  const __nv_fp8_interpretation_t format) {
  return __nv_cvt_double_to_fp8(static_cast<float>(__half(x)), saturate, format);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw x, const __nv_saturation_t saturate,
                                                      const __nv_fp8_interpretation_t format) {
  return __nv_cvt_double_to_fp8(static_cast<float>(__nv_bfloat16(x)), saturate, format);
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(const float2 x, const __nv_saturation_t saturate,
                                                     const __nv_fp8_interpretation_t format) {
  const unsigned first = __nv_cvt_float_to_fp8(x.x, saturate, format);
  const unsigned second = __nv_cvt_float_to_fp8(x.y, saturate, format);
  return static_cast<__nv_fp8x2_storage_t>(first | second << 8);
}
//! The value of a bit pattern as a half.
inline __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x, const __nv_fp8_interpretation_t format) {
  return format == __NV_E4M3 ? kiln_cudart::half_raw<kiln_cudart::E4M3>(x)
                             : kiln_cudart::half_raw<kiln_cudart::E5M2>(x);
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x, const __nv_fp8_interpretation_t format) {
  __half2_raw pair;
  pair.x = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x & 0xff), format).x;
  pair.y = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), format).x;
  return pair;
}

#endif  // __CUDA_FP8_H__
