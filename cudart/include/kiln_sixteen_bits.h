// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What __half and __nv_bfloat16 have in common on the host: conversions, operators and intrinsics. Results are rounded
// to the nearest, ties to even; != holds for NaNs, __hne does not.

#ifndef KILN_SIXTEEN_BITS_H
#define KILN_SIXTEEN_BITS_H

#include "kiln_small_float.h"

namespace kiln_cudart {

//! Self is the type itself, Raw its bit pattern as a plain struct, F its format.
template <class Self, class Raw, class F>
class SixteenBits {
 protected:
  unsigned short __x;

 public:
  SixteenBits() = default;
  constexpr SixteenBits(const Raw& raw) : __x(raw.x) {}
  SixteenBits(float value) : __x(static_cast<unsigned short>(encode<F>(value))) {}
  SixteenBits(double value) : __x(static_cast<unsigned short>(encode<F>(value))) {}
  SixteenBits(short value) : SixteenBits(static_cast<float>(value)) {}
  SixteenBits(unsigned short value) : SixteenBits(static_cast<float>(value)) {}
  SixteenBits(int value) : SixteenBits(static_cast<double>(value)) {}
  SixteenBits(unsigned value) : SixteenBits(static_cast<double>(value)) {}
  SixteenBits(long value) : SixteenBits(static_cast<long long>(value)) {}
  SixteenBits(unsigned long value) : SixteenBits(static_cast<unsigned long long>(value)) {}
  SixteenBits(long long value) : __x(static_cast<unsigned short>(encode<F>(static_cast<long double>(value)))) {}
  SixteenBits(unsigned long long value)
      : __x(static_cast<unsigned short>(encode<F>(static_cast<long double>(value)))) {}

  operator Raw() const {
    Raw raw;
    raw.x = __x;
    return raw;
  }
  operator float() const { return decode<F>(__x); }
  operator signed char() const { return to_integer<signed char>(*this, kTowardZero); }
  operator unsigned char() const { return to_integer<unsigned char>(*this, kTowardZero); }
  operator char() const { return to_integer<char>(*this, kTowardZero); }
  operator short() const { return to_integer<short>(*this, kTowardZero); }
  operator unsigned short() const { return to_integer<unsigned short>(*this, kTowardZero); }
  operator int() const { return to_integer<int>(*this, kTowardZero); }
  operator unsigned() const { return to_integer<unsigned>(*this, kTowardZero); }
  operator long() const { return to_integer<long>(*this, kTowardZero); }
  operator unsigned long() const { return to_integer<unsigned long>(*this, kTowardZero); }
  operator long long() const { return to_integer<long long>(*this, kTowardZero); }
  operator unsigned long long() const { return to_integer<unsigned long long>(*this, kTowardZero); }
  constexpr operator bool() const { return (__x & (F::kSign - 1)) != 0; }

  friend Self operator+(const Self& a, const Self& b) { return f(a) + f(b); }
  friend Self operator-(const Self& a, const Self& b) { return f(a) - f(b); }
  friend Self operator*(const Self& a, const Self& b) { return f(a) * f(b); }
  friend Self operator/(const Self& a, const Self& b) { return f(a) / f(b); }
  friend Self& operator+=(Self& a, const Self& b) { return a = a + b; }
  friend Self& operator-=(Self& a, const Self& b) { return a = a - b; }
  friend Self& operator*=(Self& a, const Self& b) { return a = a * b; }
  friend Self& operator/=(Self& a, const Self& b) { return a = a / b; }
  friend Self operator+(const Self& a) { return a; }
  friend Self operator-(const Self& a) { return of_bits(bits(a) ^ F::kSign); }
  friend Self& operator++(Self& a) { return a = a + Self(1.0f); }
  friend Self& operator--(Self& a) { return a = a - Self(1.0f); }
  friend Self operator++(Self& a, int) {
    const Self before = a;
    ++a;
    return before;
  }
  friend Self operator--(Self& a, int) {
    const Self before = a;
    --a;
    return before;
  }
  friend bool operator==(const Self& a, const Self& b) { return f(a) == f(b); }
  friend bool operator!=(const Self& a, const Self& b) { return f(a) != f(b); }
  friend bool operator<(const Self& a, const Self& b) { return f(a) < f(b); }
  friend bool operator<=(const Self& a, const Self& b) { return f(a) <= f(b); }
  friend bool operator>(const Self& a, const Self& b) { return f(a) > f(b); }
  friend bool operator>=(const Self& a, const Self& b) { return f(a) >= f(b); }

  friend Self __hadd(const Self a, const Self b) { return a + b; }
  friend Self __hadd_rn(const Self a, const Self b) { return a + b; }
  friend Self __hsub(const Self a, const Self b) { return a - b; }
  friend Self __hsub_rn(const Self a, const Self b) { return a - b; }
  friend Self __hmul(const Self a, const Self b) { return a * b; }
  friend Self __hmul_rn(const Self a, const Self b) { return a * b; }
  friend Self __hdiv(const Self a, const Self b) { return a / b; }
  friend Self __hadd_sat(const Self a, const Self b) { return saturate(a + b); }
  friend Self __hsub_sat(const Self a, const Self b) { return saturate(a - b); }
  friend Self __hmul_sat(const Self a, const Self b) { return saturate(a * b); }
  friend Self __hneg(const Self a) { return -a; }
  friend Self __habs(const Self a) { return of_bits(bits(a) & ~F::kSign); }
  friend Self __hmax(const Self a, const Self b) { return largest(a, b); }
  friend Self __hmin(const Self a, const Self b) { return -largest(-a, -b); }
  friend Self __hmax_nan(const Self a, const Self b) { return is_ordered(a, b) ? largest(a, b) : of_bits(F::kNan); }
  friend Self __hmin_nan(const Self a, const Self b) { return is_ordered(a, b) ? -largest(-a, -b) : of_bits(F::kNan); }
  friend bool __hisnan(const Self a) { return F::is_nan(bits(a)); }
  friend int __hisinf(const Self a) {
    return bits(a) == F::kInfinity ? 1 : bits(a) == (F::kInfinity | F::kSign) ? -1 : 0;
  }
  friend bool __heq(const Self a, const Self b) { return a == b; }
  friend bool __hne(const Self a, const Self b) { return a != b && is_ordered(a, b); }
  friend bool __hlt(const Self a, const Self b) { return a < b; }
  friend bool __hle(const Self a, const Self b) { return a <= b; }
  friend bool __hgt(const Self a, const Self b) { return a > b; }
  friend bool __hge(const Self a, const Self b) { return a >= b; }
  friend bool __hequ(const Self a, const Self b) { return a == b || !is_ordered(a, b); }
  friend bool __hneu(const Self a, const Self b) { return a != b; }
  friend bool __hltu(const Self a, const Self b) { return !(f(a) >= f(b)); }
  friend bool __hleu(const Self a, const Self b) { return !(f(a) > f(b)); }
  friend bool __hgtu(const Self a, const Self b) { return !(f(a) <= f(b)); }
  friend bool __hgeu(const Self a, const Self b) { return !(f(a) < f(b)); }

 private:
  static float f(const Self& value) { return static_cast<float>(value); }
  static unsigned bits(const Self& value) { return static_cast<Raw>(value).x; }
  static Self of_bits(unsigned bits) {
    Raw raw;
    raw.x = static_cast<unsigned short>(bits);
    return Self(raw);
  }
  static bool is_ordered(const Self& a, const Self& b) { return !F::is_nan(bits(a)) && !F::is_nan(bits(b)); }
  static Self saturate(const Self& a) { return f(a) > 0 ? (f(a) < 1 ? a : Self(1.0f)) : Self(0.0f); }
  //! IEEE's maximumNumber: a number wins over a NaN, 0 over -0.
  static Self largest(const Self& a, const Self& b) {
    if (!is_ordered(a, b)) return F::is_nan(bits(a)) ? (F::is_nan(bits(b)) ? of_bits(F::kNan) : b) : a;
    if (f(a) == f(b)) return bits(a) & F::kSign ? b : a;
    return f(a) > f(b) ? a : b;
  }
};

//! Two numbers side by side, on which all works element by element.
template <class Self, class Raw2, class One, class Raw>
class SixteenBitsPair {
 public:
  One x;  //!< The first, in the lower half of a 32-bit word.
  One y;  //!< The second.

  SixteenBitsPair() = default;
  constexpr SixteenBitsPair(const One& first, const One& second) : x(first), y(second) {}
  SixteenBitsPair(const Raw2& raw) {
    Raw first, second;
    first.x = raw.x, second.x = raw.y;
    x = One(first), y = One(second);
  }
  operator Raw2() const {
    Raw2 raw;
    raw.x = static_cast<Raw>(x).x, raw.y = static_cast<Raw>(y).x;
    return raw;
  }

  friend Self operator+(const Self& a, const Self& b) { return Self(a.x + b.x, a.y + b.y); }
  friend Self operator-(const Self& a, const Self& b) { return Self(a.x - b.x, a.y - b.y); }
  friend Self operator*(const Self& a, const Self& b) { return Self(a.x * b.x, a.y * b.y); }
  friend Self operator/(const Self& a, const Self& b) { return Self(a.x / b.x, a.y / b.y); }
  friend Self& operator+=(Self& a, const Self& b) { return a = a + b; }
  friend Self& operator-=(Self& a, const Self& b) { return a = a - b; }
  friend Self& operator*=(Self& a, const Self& b) { return a = a * b; }
  friend Self& operator/=(Self& a, const Self& b) { return a = a / b; }
  friend Self operator+(const Self& a) { return a; }
  friend Self operator-(const Self& a) { return Self(-a.x, -a.y); }
  friend bool operator==(const Self& a, const Self& b) { return a.x == b.x && a.y == b.y; }
  friend bool operator!=(const Self& a, const Self& b) { return a.x != b.x && a.y != b.y; }
  friend bool operator<(const Self& a, const Self& b) { return a.x < b.x && a.y < b.y; }
  friend bool operator<=(const Self& a, const Self& b) { return a.x <= b.x && a.y <= b.y; }
  friend bool operator>(const Self& a, const Self& b) { return a.x > b.x && a.y > b.y; }
  friend bool operator>=(const Self& a, const Self& b) { return a.x >= b.x && a.y >= b.y; }

  friend Self __hadd2(const Self a, const Self b) { return a + b; }
  friend Self __hsub2(const Self a, const Self b) { return a - b; }
  friend Self __hmul2(const Self a, const Self b) { return a * b; }
  friend Self __h2div(const Self a, const Self b) { return a / b; }
  friend Self __hneg2(const Self a) { return -a; }
  friend Self __habs2(const Self a) { return Self(__habs(a.x), __habs(a.y)); }
  friend Self __hmax2(const Self a, const Self b) { return Self(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
  friend Self __hmin2(const Self a, const Self b) { return Self(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
  friend bool __hbeq2(const Self a, const Self b) { return a == b; }
  friend bool __hbne2(const Self a, const Self b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }
  friend bool __hblt2(const Self a, const Self b) { return a < b; }
  friend bool __hble2(const Self a, const Self b) { return a <= b; }
  friend bool __hbgt2(const Self a, const Self b) { return a > b; }
  friend bool __hbge2(const Self a, const Self b) { return a >= b; }
  friend float __low2float(const Self a) { return static_cast<float>(a.x); }
  friend float __high2float(const Self a) { return static_cast<float>(a.y); }
  friend Self __lowhigh2highlow(const Self a) { return Self(a.y, a.x); }
};

}  // namespace kiln_cudart

#endif  // KILN_SIXTEEN_BITS_H
