// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Floats of 6 bits on the host, with the names of CUDA 13.0.

#include "kiln_toolkit_floats.h"

#if KILN_TOOLKIT_FLOATS
#pragma GCC system_header  // for include_next
#include_next <cuda_fp6.h>
#elif !defined(__CUDA_FP6_H__)
#define __CUDA_FP6_H__

#include "cuda_fp8.h"

typedef unsigned char __nv_fp6_storage_t;     //!< One number, in the lower bits.
typedef unsigned short __nv_fp6x2_storage_t;  //!< Two, a byte each.
typedef unsigned int __nv_fp6x4_storage_t;    //!< Four.

//! Names the format of a bit pattern.
typedef enum __nv_fp6_interpretation_t {
  __NV_E2M3,  //!< 2 exponent bits, 3 mantissa bits, all of them numbers; up to 7.5.
  __NV_E3M2,  //!< 3 exponent bits, 2 mantissa bits, all of them numbers; up to 28.
} __nv_fp6_interpretation_t;

//! 2 exponent bits, 3 mantissa bits, all of them numbers; up to 7.5.
struct __nv_fp6_e2m3 : kiln_cudart::EightBits<kiln_cudart::E2M3> {
  using EightBits::EightBits;
  __nv_fp6_e2m3() = default;
};
//! Two of them.
struct __nv_fp6x2_e2m3 : kiln_cudart::PackedBits<__nv_fp6_e2m3, unsigned short, 8> {
  using PackedBits::PackedBits;
  __nv_fp6x2_e2m3() = default;
};
//! Four of them.
struct __nv_fp6x4_e2m3 : kiln_cudart::PackedBits<__nv_fp6_e2m3, unsigned int, 8> {
  using PackedBits::PackedBits;
  __nv_fp6x4_e2m3() = default;
};

//! 3 exponent bits, 2 mantissa bits, all of them numbers; up to 28.
struct __nv_fp6_e3m2 : kiln_cudart::EightBits<kiln_cudart::E3M2> {
  using EightBits::EightBits;
  __nv_fp6_e3m2() = default;
};
//! Two of them.
struct __nv_fp6x2_e3m2 : kiln_cudart::PackedBits<__nv_fp6_e3m2, unsigned short, 8> {
  using PackedBits::PackedBits;
  __nv_fp6x2_e3m2() = default;
};
//! Four of them.
struct __nv_fp6x4_e3m2 : kiln_cudart::PackedBits<__nv_fp6_e3m2, unsigned int, 8> {
  using PackedBits::PackedBits;
  __nv_fp6x4_e3m2() = default;
};

//! The bit pattern that a value has in a format.
inline __nv_fp6_storage_t __nv_cvt_double_to_fp6(const double x, const __nv_fp6_interpretation_t format,
                                                 const cudaRoundMode rounding) {
  const auto mode = kiln_cudart::rounding_of(rounding);
  return format == __NV_E2M3 ? static_cast<__nv_fp6_storage_t>(kiln_cudart::encode<kiln_cudart::E2M3>(x, mode))
                             : static_cast<__nv_fp6_storage_t>(kiln_cudart::encode<kiln_cudart::E3M2>(x, mode));
}
inline __nv_fp6_storage_t __nv_cvt_float_to_fp6(const float x, const __nv_fp6_interpretation_t format,
                                                const cudaRoundMode rounding) {
  return __nv_cvt_double_to_fp6(x, format, rounding);
}
inline __nv_fp6_storage_t __nv_cvt_halfraw_to_fp6(const __half_raw x, const __nv_fp6_interpretation_t format,
                                                  const cudaRoundMode rounding) {
  return __nv_cvt_double_to_fp6(static_cast<float>(__half(x)), format, rounding);
}
inline __nv_fp6_storage_t __nv_cvt_bfloat16raw_to_fp6(const __nv_bfloat16_raw x, const __nv_fp6_interpretation_t format,
                                                      const cudaRoundMode rounding) {
  return __nv_cvt_double_to_fp6(static_cast<float>(__nv_bfloat16(x)), format, rounding);
}
//! The value of a bit pattern as a half.
inline __half_raw __nv_cvt_fp6_to_halfraw(const __nv_fp6_storage_t x, const __nv_fp6_interpretation_t format) {
  return format == __NV_E2M3 ? kiln_cudart::half_raw<kiln_cudart::E2M3>(x)
                             : kiln_cudart::half_raw<kiln_cudart::E3M2>(x);
}

#endif  // __CUDA_FP6_H__
