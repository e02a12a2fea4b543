// What the scalar expressions of ops/*-inl.h call for double: included before nest.cuh, and only by nests that have
// f64. The expressions are templates that find functions of double where they stand; functions of float would take a
// double without a word.
#pragma once

#include "device.cuh"

namespace kiln {

__device__ __forceinline__ double to_register(double x) { return x; }

namespace device {

__device__ __forceinline__ double exp(double x) { return ::exp(x); }
__device__ __forceinline__ double expm1(double x) { return ::expm1(x); }
__device__ __forceinline__ double log(double x) { return ::log(x); }
__device__ __forceinline__ double log1p_unit(double x) { return ::log1p(x); }
__device__ __forceinline__ double sqrt(double x) { return ::sqrt(x); }
__device__ __forceinline__ double abs(double x) { return ::fabs(x); }
__device__ __forceinline__ double sin(double x) { return ::sin(x); }
__device__ __forceinline__ double cos(double x) { return ::cos(x); }
__device__ __forceinline__ double tan(double x) { return ::tan(x); }
__device__ __forceinline__ double sinh(double x) { return ::sinh(x); }
__device__ __forceinline__ double cosh(double x) { return ::cosh(x); }
__device__ __forceinline__ double tanh(double x) { return ::tanh(x); }
__device__ __forceinline__ double asin(double x) { return ::asin(x); }
__device__ __forceinline__ double acos(double x) { return ::acos(x); }
__device__ __forceinline__ double atan(double x) { return ::atan(x); }
__device__ __forceinline__ double asinh(double x) { return ::asinh(x); }
__device__ __forceinline__ double acosh(double x) { return ::acosh(x); }
__device__ __forceinline__ double atanh(double x) { return ::atanh(x); }
__device__ __forceinline__ double erf(double x) { return ::erf(x); }
__device__ __forceinline__ double ceil(double x) { return ::ceil(x); }
__device__ __forceinline__ double floor(double x) { return ::floor(x); }
__device__ __forceinline__ double round_even(double x) { return ::rint(x); }
__device__ __forceinline__ double pow(double x, double y) { return ::pow(x, y); }
__device__ __forceinline__ double floor_div(double a, double b) { return ::floor(a / b); }
__device__ __forceinline__ double mod(double a, double b) { return ::fmod(a, b); }
__device__ __forceinline__ bool is_nan(double x) { return x != x; }
__device__ __forceinline__ bool is_inf(double x) { return ::fabs(x) == __longlong_as_double(0x7ff0000000000000); }
/// max(x, low) and min(x, high) that keep a NaN of x; the limits are never NaN.
__device__ __forceinline__ double at_least(double x, double low) { return x < low ? low : x; }
__device__ __forceinline__ double at_most(double x, double high) { return x > high ? high : x; }
/// NaN if either is.
__device__ __forceinline__ double max(double a, double b) { return a > b || a != a ? a : b; }
__device__ __forceinline__ double min(double a, double b) { return a < b || a != a ? a : b; }

// Cast, as ops/cast.h defines it.

/// round_to_odd of tensor/numeric.h: rounding it to a narrower type is rounding once.
__device__ __forceinline__ float double_to_odd(double x) {
  const float y = __double2float_rz(x);
  return double(y) == x || x != x ? y : __int_as_float(__float_as_int(y) | 1);
}
/// Truncated and saturated, NaN is 0.
__device__ __forceinline__ int double_to_i32(double x) { return x != x ? 0 : __double2int_rz(x); }
__device__ __forceinline__ int64_t double_to_i64(double x) { return x != x ? 0 : __double2ll_rz(x); }
__device__ __forceinline__ int double_to_i8(double x) { return ::max(-128, ::min(127, double_to_i32(x))); }
__device__ __forceinline__ int double_to_u8(double x) { return ::max(0, ::min(255, double_to_i32(x))); }

}  // namespace device
}  // namespace kiln
