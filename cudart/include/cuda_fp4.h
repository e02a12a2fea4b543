// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Floats of 4 bits on the host, with the names of CUDA 13.0.

#include "kiln_toolkit_floats.h"

#if KILN_TOOLKIT_FLOATS
#pragma GCC system_header  // for include_next
#include_next <cuda_fp4.h>
#elif !defined(__CUDA_FP4_H__)
#define __CUDA_FP4_H__

#include "cuda_fp6.h"

typedef unsigned char __nv_fp4_storage_t;     //!< One number, in the lower bits.
typedef unsigned char __nv_fp4x2_storage_t;   //!< Two, the first in the lower bits.
typedef unsigned short __nv_fp4x4_storage_t;  //!< Four.

//! Names the format of a bit pattern.
typedef enum __nv_fp4_interpretation_t {
  __NV_E2M1,  //!< 2 exponent bits, 1 mantissa bit, all of them numbers; up to 6.
} __nv_fp4_interpretation_t;

//! 2 exponent bits, 1 mantissa bit, all of them numbers; up to 6.
struct __nv_fp4_e2m1 : kiln_cudart::EightBits<kiln_cudart::E2M1> {
  using EightBits::EightBits;
  __nv_fp4_e2m1() = default;
};
//! Two of them.
struct __nv_fp4x2_e2m1 : kiln_cudart::PackedBits<__nv_fp4_e2m1, unsigned char, 4> {
  using PackedBits::PackedBits;
  __nv_fp4x2_e2m1() = default;
};
//! Four of them.
struct __nv_fp4x4_e2m1 : kiln_cudart::PackedBits<__nv_fp4_e2m1, unsigned short, 4> {
  using PackedBits::PackedBits;
  __nv_fp4x4_e2m1() = default;
};

//! The bit pattern that a value has in a format.
inline __nv_fp4_storage_t __nv_cvt_double_to_fp4(const double x, const __nv_fp4_interpretation_t format,
                                                 const cudaRoundMode rounding) {
  const auto mode = kiln_cudart::rounding_of(rounding);
  (void)format;
  return static_cast<__nv_fp4_storage_t>(kiln_cudart::encode<kiln_cudart::E2M1>(x, mode));
}
inline __nv_fp4_storage_t __nv_cvt_float_to_fp4(const float x, const __nv_fp4_interpretation_t format,
                                                const cudaRoundMode rounding) {
  return __nv_cvt_double_to_fp4(x, format, rounding);
}
inline __nv_fp4_storage_t __nv_cvt_halfraw_to_fp4(const __half_raw x, const __nv_fp4_interpretation_t format,
                                                  const cudaRoundMode rounding) {
  return __nv_cvt_double_to_fp4(static_cast<float>(__half(x)), format, rounding);
}
inline __nv_fp4_storage_t __nv_cvt_bfloat16raw_to_fp4(const __nv_bfloat16_raw x, const __nv_fp4_interpretation_t format,
                                                      const cudaRoundMode rounding) {
  return __nv_cvt_double_to_fp4(static_cast<float>(__nv_bfloat16(x)), format, rounding);
}
//! The value of a bit pattern as a half.
inline __half_raw __nv_cvt_fp4_to_halfraw(const __nv_fp4_storage_t x, const __nv_fp4_interpretation_t format) {
  (void)format;
  return kiln_cudart::half_raw<kiln_cudart::E2M1>(x);
}

#endif  // __CUDA_FP4_H__
