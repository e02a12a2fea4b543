// The vocabulary of the scalar expressions in activation-inl.h, unary-inl.h and element_wise-inl.h, for double and for
// integers. Vectors bring the same names: an expression is written once and finds the functions of its argument's type.
#if defined(KILN_OPS_SCALAR_INL_H_) == defined(HWY_TARGET_TOGGLE)  // once for each instruction set
#ifdef KILN_OPS_SCALAR_INL_H_
#undef KILN_OPS_SCALAR_INL_H_
#else
#define KILN_OPS_SCALAR_INL_H_
#endif

#include <hwy/highway.h>
#include <cmath>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace kiln {
namespace HWY_NAMESPACE {

/// An int64 whose arithmetic wraps and whose division is defined everywhere: x / 0 is 0.
struct Integer {
  int64_t value;
  constexpr Integer(int64_t v) : value(v) {}
  bool operator==(const Integer&) const = default;
  auto operator<=>(const Integer&) const = default;
};
inline Integer wrap(uint64_t bits) { return static_cast<int64_t>(bits); }
inline uint64_t bits(Integer a) { return static_cast<uint64_t>(a.value); }
inline Integer operator-(Integer a) { return wrap(0 - bits(a)); }
inline Integer operator+(Integer a, Integer b) { return wrap(bits(a) + bits(b)); }
inline Integer operator-(Integer a, Integer b) { return wrap(bits(a) - bits(b)); }
inline Integer operator*(Integer a, Integer b) { return wrap(bits(a) * bits(b)); }
inline Integer operator/(Integer a, Integer b) {
  if (b.value == 0) return 0;
  return b.value == -1 ? -a : Integer(a.value / b.value);  // INT64_MIN / -1 would trap
}
inline Integer floor_div(Integer a, Integer b) {
  const Integer quotient = a / b;
  const bool inexact = b.value != 0 && b.value != -1 && a.value % b.value != 0;
  return inexact && (a.value < 0) != (b.value < 0) ? quotient - 1 : quotient;
}
inline Integer pow(Integer base, Integer exponent) {
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
inline Integer abs(Integer a) { return a.value < 0 ? -a : a; }
inline Integer at_least(Integer x, Integer low) { return x < low ? low : x; }
inline Integer max(Integer a, Integer b) { return a < b ? b : a; }
inline Integer min(Integer a, Integer b) { return b < a ? b : a; }
inline bool is_nan(Integer) { return false; }

inline double exp(double x) { return std::exp(x); }
inline double expm1(double x) { return std::expm1(x); }
inline double log(double x) { return std::log(x); }
inline double log1p_unit(double x) { return std::log1p(x); }  // vectors: of [0, 1] alone
inline double sqrt(double x) { return std::sqrt(x); }
inline double abs(double x) { return std::fabs(x); }
inline double sin(double x) { return std::sin(x); }
inline double cos(double x) { return std::cos(x); }
inline double tan(double x) { return std::tan(x); }
inline double sinh(double x) { return std::sinh(x); }
inline double cosh(double x) { return std::cosh(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double asin(double x) { return std::asin(x); }
inline double acos(double x) { return std::acos(x); }
inline double atan(double x) { return std::atan(x); }
inline double asinh(double x) { return std::asinh(x); }
inline double acosh(double x) { return std::acosh(x); }
inline double atanh(double x) { return std::atanh(x); }
inline double erf(double x) { return std::erf(x); }
inline double ceil(double x) { return std::ceil(x); }
inline double floor(double x) { return std::floor(x); }
inline double round_even(double x) { return std::nearbyint(x); }
inline double pow(double x, double y) { return std::pow(x, y); }
inline double floor_div(double a, double b) { return std::floor(a / b); }
inline double mod(double a, double b) { return std::fmod(a, b); }
inline bool is_nan(double x) { return std::isnan(x); }
inline bool is_inf(double x) { return std::isinf(x); }
/// max(x, low) and min(x, high) that keep a NaN of x; the limits are none.
inline double at_least(double x, double low) { return x < low ? low : x; }
inline double at_most(double x, double high) { return x > high ? high : x; }
/// NaN if either is.
inline double max(double a, double b) { return a > b || std::isnan(a) ? a : b; }
inline double min(double a, double b) { return a < b || std::isnan(a) ? a : b; }

template <class V>
V select(bool condition, V then, V otherwise) {
  return condition ? then : otherwise;
}

}  // namespace HWY_NAMESPACE
}  // namespace kiln
HWY_AFTER_NAMESPACE();

#endif
