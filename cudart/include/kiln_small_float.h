// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Floats of 4 to 16 bits as bit patterns, on the host: what cuda_fp16.h, cuda_bf16.h and cuda_fp8.h are made of.

#ifndef KILN_SMALL_FLOAT_H
#define KILN_SMALL_FLOAT_H

#include <cmath>
#include <limits>

namespace kiln_cudart {

//! What a format's largest exponent stands for.
enum Specials {
  kIeee,        //!< Infinities and NaNs.
  kNanOnly,     //!< A NaN, where all bits are set; no infinity.
  kFiniteOnly,  //!< Numbers like any other.
};

//! A sign bit, exponent bits, mantissa bits.
template <int kExponent, int kMantissa, Specials kSpecials>
struct Format {
  static constexpr int kExponentBits = kExponent, kMantissaBits = kMantissa;
  static constexpr unsigned kSign = 1u << (kExponent + kMantissa);
  static constexpr unsigned kInfinity = ((1u << kExponent) - 1) << kMantissa;  //!< If it is IEEE's.
  static constexpr unsigned kNan = kSign - 1;                                  //!< If it has one.
  static constexpr unsigned kLargest = kSpecials == kIeee ? kInfinity - 1 : kSpecials == kNanOnly ? kNan - 1 : kNan;
  static constexpr int kLeastExponent = 2 - (1 << (kExponent - 1));  //!< Of normal numbers: 2 to the power of it.
  static constexpr bool kHasInfinity = kSpecials == kIeee, kHasNan = kSpecials != kFiniteOnly;

  static bool is_nan(unsigned bits) {
    const unsigned magnitude = bits & (kSign - 1);
    return kHasInfinity ? magnitude > kInfinity : kHasNan && magnitude == kNan;
  }
};
using Half = Format<5, 10, kIeee>;
using BFloat16 = Format<8, 7, kIeee>;
using E4M3 = Format<4, 3, kNanOnly>;
using E5M2 = Format<5, 2, kIeee>;
using E2M3 = Format<2, 3, kFiniteOnly>;
using E3M2 = Format<3, 2, kFiniteOnly>;
using E2M1 = Format<2, 1, kFiniteOnly>;

//! Where a value between two numbers goes.
enum Rounding { kNearestEven, kTowardZero, kDown, kUp };
//! What a value beyond the largest number becomes: an infinity or NaN by the rules of rounding, or the largest number.
enum Overflow { kToInfinity, kToLargest };

//! The value of a bit pattern.
template <class F>
float decode(unsigned bits) {
  const bool negative = (bits & F::kSign) != 0;
  const unsigned magnitude = bits & (F::kSign - 1);
  if (F::is_nan(bits)) return std::numeric_limits<float>::quiet_NaN();
  if (F::kHasInfinity && magnitude == F::kInfinity)
    return negative ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
  const unsigned exponent = magnitude >> F::kMantissaBits;
  const unsigned fraction = magnitude & ((1u << F::kMantissaBits) - 1);
  const unsigned significand = exponent == 0 ? fraction : fraction | 1u << F::kMantissaBits;
  const int power = F::kLeastExponent + (exponent == 0 ? 0 : static_cast<int>(exponent) - 1);
  const float value = std::ldexp(static_cast<float>(significand), power - F::kMantissaBits);
  return negative ? -value : value;
}

//! Whether `rest`, of 0 to 1 above `whole`, rounds up.
template <class T>
bool rounds_up(unsigned whole, T rest, bool negative, Rounding rounding) {
  switch (rounding) {
    case kNearestEven: return rest > T(0.5) || (rest == T(0.5) && whole % 2 == 1);
    case kTowardZero: return false;
    case kDown: return negative && rest > 0;
    case kUp: return !negative && rest > 0;
  }
  return false;
}

//! The bit pattern of a value beyond the largest number, without its sign.
template <class F>
unsigned beyond(bool is_infinite, bool negative, Rounding rounding, Overflow overflow) {
  if (overflow == kToLargest || !F::kHasNan) return F::kLargest;
  const bool inward = rounding == kTowardZero || rounding == (negative ? kUp : kDown);
  if (inward && !is_infinite) return F::kLargest;
  return F::kHasInfinity ? F::kInfinity : F::kNan;
}

//! The bit pattern of a value, rounded once. T holds the value exactly: float, double or, for long integers, long
//! double.
template <class F, class T>
unsigned encode(T value, Rounding rounding = kNearestEven, Overflow overflow = kToInfinity) {
  if (value != value) return F::kHasNan ? F::kNan : F::kLargest;
  const bool negative = std::signbit(value);
  const unsigned sign = negative ? F::kSign : 0;
  const T magnitude = negative ? -value : value;
  if (magnitude > std::numeric_limits<T>::max()) return sign | beyond<F>(true, negative, rounding, overflow);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  --exponent;  // magnitude is 1 to 2 times 2 to this power
  if (exponent >= 1 << (F::kExponentBits - (F::kHasInfinity ? 1 : 0)))
    return sign | beyond<F>(false, negative, rounding, overflow);
  if (exponent < F::kLeastExponent || magnitude == 0) exponent = F::kLeastExponent;
  const T scaled = std::ldexp(magnitude, F::kMantissaBits - exponent);
  unsigned whole = static_cast<unsigned>(scaled);
  whole += rounds_up(whole, scaled - static_cast<T>(whole), negative, rounding);
  // The bit above the mantissa, which normal numbers have, counts the exponent up by one.
  const unsigned bits = whole + (static_cast<unsigned>(exponent - F::kLeastExponent) << F::kMantissaBits);
  return sign | (bits > F::kLargest ? beyond<F>(false, negative, rounding, overflow) : bits);
}

//! The integer that a value rounds to; the nearest one that Int has, and 0 for a NaN.
template <class Int>
Int to_integer(float value, Rounding rounding) {
  if (value != value) return 0;
  const float whole = rounding == kTowardZero ? std::trunc(value)
                      : rounding == kDown     ? std::floor(value)
                      : rounding == kUp       ? std::ceil(value)
                                              : std::nearbyint(value);
  if (whole <= static_cast<float>(std::numeric_limits<Int>::min())) return std::numeric_limits<Int>::min();
  if (whole >= static_cast<float>(std::numeric_limits<Int>::max())) return std::numeric_limits<Int>::max();
  return static_cast<Int>(whole);
}

}  // namespace kiln_cudart

#endif  // KILN_SMALL_FLOAT_H
