// Stands in for ops/scalar-inl.h in kernels: what the scalar expressions of ops/*-inl.h call, for float and for
// integers, under the names that the reference's double has.
#pragma once

#include "device.cuh"

#define HWY_NAMESPACE device
#define HWY_INLINE __device__ __forceinline__
#define HWY_BEFORE_NAMESPACE()
#define HWY_AFTER_NAMESPACE()

#include "ops/scalar.h"

namespace kiln {
namespace device {

/// An int64 whose arithmetic wraps and whose division is defined everywhere: x / 0 is 0.
struct Integer {
  int64_t value;
  HWY_INLINE Integer(int64_t v) : value(v) {}
};
HWY_INLINE bool operator==(Integer a, Integer b) { return a.value == b.value; }
HWY_INLINE bool operator!=(Integer a, Integer b) { return a.value != b.value; }
HWY_INLINE bool operator<(Integer a, Integer b) { return a.value < b.value; }
HWY_INLINE Integer wrap(uint64_t bits) { return int64_t(bits); }
HWY_INLINE uint64_t bits(Integer a) { return uint64_t(a.value); }
HWY_INLINE Integer operator-(Integer a) { return wrap(0 - bits(a)); }
HWY_INLINE Integer operator+(Integer a, Integer b) { return wrap(bits(a) + bits(b)); }
HWY_INLINE Integer operator-(Integer a, Integer b) { return wrap(bits(a) - bits(b)); }
HWY_INLINE Integer operator*(Integer a, Integer b) { return wrap(bits(a) * bits(b)); }
/// The truncated quotient; of 32-bit operands, which most are, without the long division.
HWY_INLINE Integer operator/(Integer a, Integer b) {
  if (b.value == 0) return 0;
  if (b.value == -1) return -a;  // INT64_MIN / -1
  if (a.value == int(a.value) && b.value == int(b.value)) return int(a.value) / int(b.value);
  return a.value / b.value;
}
HWY_INLINE Integer floor_div(Integer a, Integer b) {
  const Integer quotient = a / b;
  const bool inexact = b.value != 0 && b.value != -1 && quotient * b != a;
  return inexact && (a.value < 0) != (b.value < 0) ? quotient - 1 : quotient;
}
HWY_INLINE Integer pow(Integer base, Integer exponent) {
  if (exponent.value < 0) {  // the fraction truncates, unless |base| is 1
    if (base.value == 1) return 1;
    return base.value == -1 ? Integer(exponent.value % 2 ? -1 : 1) : Integer(0);
  }
  Integer result = 1;
  for (uint64_t e = bits(exponent); e; e >>= 1) {
    if (e & 1) result = result * base;
    base = base * base;
  }
  return result;
}
HWY_INLINE Integer abs(Integer a) { return a.value < 0 ? -a : a; }
HWY_INLINE Integer at_least(Integer x, Integer low) { return x < low ? low : x; }
HWY_INLINE Integer max(Integer a, Integer b) { return a < b ? b : a; }
HWY_INLINE Integer min(Integer a, Integer b) { return b < a ? b : a; }
HWY_INLINE bool is_nan(Integer) { return false; }

HWY_INLINE float log(float x) { return ::logf(x); }
HWY_INLINE float abs(float x) { return ::fabsf(x); }
HWY_INLINE float sin(float x) { return ::sinf(x); }
HWY_INLINE float cos(float x) { return ::cosf(x); }
HWY_INLINE float tan(float x) { return ::tanf(x); }
HWY_INLINE float sinh(float x) { return ::sinhf(x); }
HWY_INLINE float cosh(float x) { return ::coshf(x); }
HWY_INLINE float asin(float x) { return ::asinf(x); }
HWY_INLINE float acos(float x) { return ::acosf(x); }
HWY_INLINE float atan(float x) { return ::atanf(x); }
HWY_INLINE float asinh(float x) { return ::asinhf(x); }
HWY_INLINE float acosh(float x) { return ::acoshf(x); }
HWY_INLINE float atanh(float x) { return ::atanhf(x); }
HWY_INLINE float erf(float x) { return ::erff(x); }
HWY_INLINE float ceil(float x) { return ::ceilf(x); }
HWY_INLINE float floor(float x) { return ::floorf(x); }
HWY_INLINE float round_even(float x) { return ::rintf(x); }
HWY_INLINE float pow(float x, float y) { return ::powf(x, y); }
HWY_INLINE float floor_div(float a, float b) { return ::floorf(a / b); }
HWY_INLINE float mod(float a, float b) { return ::fmodf(a, b); }
HWY_INLINE bool is_nan(float x) { return x != x; }
HWY_INLINE bool is_inf(float x) { return ::fabsf(x) == __int_as_float(0x7f800000); }
/// max(x, low) and min(x, high) that keep a NaN of x; the limits are none.
HWY_INLINE float at_least(float x, float low) { return x < low ? low : x; }
HWY_INLINE float at_most(float x, float high) { return x > high ? high : x; }
/// NaN if either is.
HWY_INLINE float max(float a, float b) { return greater(a, b); }
HWY_INLINE float min(float a, float b) { return lesser(a, b); }

#ifdef KILN_QUICK_FUNCTIONS
// Functions for results that are stored as halves (KernelSource::quick). Each is right to 2^-16 or better, an eighth of
// what rounding to a half may lose. Functions that are not here are as exact as for floats.

HWY_INLINE float exp2(float x) { return power_of_two(x); }
HWY_INLINE float recip(float x) { return reciprocal(x); }
inline constexpr float kLog2OfE = 1.44269504f;
HWY_INLINE float exp(float x) { return exp2(x * kLog2OfE); }
/// 1 / (1 + exp(-x)): of infinity it is 0.
HWY_INLINE float sigmoid(float x) { return recip(1.0f + exp2(x * -kLog2OfE)); }
/// By its series where 1 would swallow digits of x.
HWY_INLINE float expm1(float x) {
  const float series = x + x * x * (0.5f + x * (1.66666667e-1f + x * (4.16666667e-2f + x * 8.33333333e-3f)));
  return ::fabsf(x) < 0.25f ? series : exp(x) - 1.0f;
}
HWY_INLINE float log1p_unit(float x) {
  const float y = logarithm_of_two(1.0f + x);
  return x < 0.03125f ? x * (1.0f - x * (0.5f - x * 0.333333333f)) : y * 6.93147181e-1f;
}
/// 1 - 2 / (1 + exp(2 x)), and its series where 1 would swallow digits of x.
HWY_INLINE float tanh(float x) {
  const float u = x * x;
  const float series = x + x * u * (-3.33281590e-1f + u * (1.32053520e-1f - u * 4.47503900e-2f));
  return ::fabsf(x) < 0.5f ? series : 1.0f - 2.0f * recip(1.0f + exp2(x * (2.0f * kLog2OfE)));
}
HWY_INLINE float sqrt(float x) { return square_root(x); }
/// x cdf(x) = max(x, 0) - |x| cdf(-|x|), and cdf(-a) = 2^(-1 - a q(a)) for a >= 0. From 8 on the second term is
/// nothing.
HWY_INLINE float gelu_erf(float x) {
  const float a = ::fminf(::fabsf(x), 8.0f);
  float q = 1.38355697e-06f;
  q = q * a - 5.41709695e-05f;
  q = q * a + 8.82945890e-04f;
  q = q * a - 8.35774379e-03f;
  q = q * a + 5.37168696e-02f;
  q = q * a + 4.58655219e-01f;
  q = q * a + 1.15119055e+00f;
  return max(x, 0.0f) - a * exp2(-1.0f - a * q);
}
#else
HWY_INLINE float exp(float x) { return ::expf(x); }
HWY_INLINE float expm1(float x) { return ::expm1f(x); }
HWY_INLINE float log1p_unit(float x) { return ::log1pf(x); }
HWY_INLINE float tanh(float x) { return ::tanhf(x); }
HWY_INLINE float sqrt(float x) { return ::sqrtf(x); }
/// Instead of the template of ops/activation-inl.h: 1 + erf is 2 - erfc or erfc, and erfc(t) = 2^(-t q(t)) for t >= 0
/// with q fitted to an error of 9e-8 of erf, what a float leaves of 1 + erf anyway. Half the instructions of erff.
HWY_INLINE float gelu_erf(float x) {
  const float t = ::fabsf(x) * 0.70710678f;
  float q = 4.535214612e-05f;
  q = q * t - 4.454517621e-04f;
  q = q * t + 1.489253482e-03f;
  q = q * t + 7.749452488e-04f;
  q = q * t - 2.825396135e-02f;
  q = q * t + 1.484817415e-01f;
  q = q * t + 9.184163809e-01f;
  q = q * t + 1.627908587e+00f;
  const float erfc = small_power_of_two(-t * q);
  return 0.5f * x * (x < 0 ? erfc : 2 - erfc);
}
#endif

template <class V>
HWY_INLINE V select(bool condition, V then, V otherwise) {
  return condition ? then : otherwise;
}

// Cast, as ops/cast.h defines it. The narrower integers are held as int.

/// Truncated and saturated, NaN is 0: what the conversion instructions do.
HWY_INLINE int float_to_i32(float x) { return __float2int_rz(x); }
HWY_INLINE int64_t float_to_i64(float x) {
  if (x != x) return 0;
  return __float2ll_rz(x);
}
HWY_INLINE int float_to_i8(float x) { return ::max(-128, ::min(127, __float2int_rz(x))); }
HWY_INLINE int float_to_u8(float x) { return ::max(0, ::min(255, __float2int_rz(x))); }
HWY_INLINE float round_f16(float x) { return to_float(from_float<f16>(x)); }
HWY_INLINE float round_bf16(float x) { return to_float(from_float<bf16>(x)); }

}  // namespace device
}  // namespace kiln
