#include "sym/real.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "sym/checked.h"
#include "sym/node.h"

namespace kiln::sym {
namespace {

constexpr int64_t kInfinity = 0x7f800000;  // the key of one

/// BF16 is the upper half of FP32, rounded to the nearest even.
double rounded_to_bfloat(double x) {
  const auto number = static_cast<float>(x);
  if (!std::isfinite(number)) return number;
  const auto bits = std::bit_cast<uint32_t>(number);
  return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);
}

double apply(RealFunction function, double x) {
  switch (function) {
    case RealFunction::kFloor: return std::floor(x);
    case RealFunction::kCeil: return std::ceil(x);
    case RealFunction::kRound: return std::nearbyint(x);
    case RealFunction::kSqrt: return std::sqrt(x);
    case RealFunction::kExp: return std::exp(x);
    case RealFunction::kLog: return std::log(x);
    case RealFunction::kHalf: return static_cast<double>(static_cast<_Float16>(static_cast<float>(x)));
    case RealFunction::kBFloat: return rounded_to_bfloat(x);
  }
  return NAN;
}

double apply(Kind operation, double a, double b) {
  switch (operation) {
    case Kind::kRealSum: return a + b;
    case Kind::kRealProd: return a * b;
    case Kind::kRealDiv: return a / b;
    case Kind::kRealPow: return std::pow(a, b);
    default: return NAN;
  }
}

int64_t truncated(double x) {
  if (x >= 0x1p63) return INT64_MAX;
  return x < -0x1p63 ? INT64_MIN : static_cast<int64_t>(x);
}

Limits any_real() { return {-kInfinity, kInfinity}; }

/// The limits of a function that is monotone in each operand, from its results at corners.
template <class F>
Limits corner_limits(std::initializer_list<double> as, std::initializer_list<double> bs, F f) {
  Limits result{kInfinity, -kInfinity};
  for (const double a : as)
    for (const double b : bs) {
      const auto key = real_key(f(a, b));
      if (!key) return any_real();
      result = {std::min<Int128>(result.min, *key), std::max<Int128>(result.max, *key)};
    }
  return result;
}

double lowest(const Limits& x) { return real_value(clamp_int64(x.min)); }
double highest(const Limits& x) { return real_value(clamp_int64(x.max)); }

Limits quotient_of_reals(const Limits& a, const Limits& b) {
  if (b.min <= 0 && b.max >= 0) return any_real();
  return corner_limits({lowest(a), highest(a)}, {lowest(b), highest(b)}, [](double x, double y) { return x / y; });
}

Limits power_limits(const Limits& a, const Limits& b) {
  if (a.min < 0) return any_real();
  return corner_limits({lowest(a), highest(a)}, {lowest(b), highest(b)},
                       [](double x, double y) { return std::pow(x, y); });
}

/// The operation on constants, or a node of it.
Expr made(Kind kind, Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  if (common_table(a, b)) return intern(kind, a, b);
  int64_t result = 0;
  if (compute(kind, a.value(), b.value(), result) != Fault::kNone) return invalid(Invalid::kNotANumber);
  return result;
}

std::pair<Expr, Expr> ordered(Expr a, Expr b) { return compare(a, b) <= 0 ? std::pair(a, b) : std::pair(b, a); }

/// Two ratios over one denominator; nothing where one of the reals is none.
struct Aligned {
  Expr a, b;
  int64_t under;
};
std::optional<Aligned> aligned(Expr a, Expr b) {
  const auto x = ratio_of(a), y = ratio_of(b);
  if (!x || !y) return std::nullopt;
  const int64_t under = std::max(x->under, y->under);
  return Aligned{x->over * (under / x->under), y->over * (under / y->under), under};
}

/// The dividend and the divisor, both integers, of a quotient of ratios, or of a ratio; nothing for other reals.
std::optional<std::pair<Expr, Expr>> quotient_of(Expr x) {
  if (const auto ratio = ratio_of(x)) return std::pair(ratio->over, Expr(ratio->under));
  if (x.kind() != Kind::kRealDiv) return std::nullopt;
  const auto a = ratio_of(x.lhs()), b = ratio_of(x.rhs());
  if (!a || !b) return std::nullopt;
  return std::pair(a->over * b->under, b->over * a->under);
}

bool is_rounding(Expr function) {
  const auto code = static_cast<RealFunction>(function.value());
  return code == RealFunction::kFloor || code == RealFunction::kCeil || code == RealFunction::kRound;
}

/// Whether numbers of so many bits hold a whole real exactly.
bool fits(const Ratio& ratio, int bits) {
  const int64_t most = int64_t{1} << bits;
  return ratio.under == 1 && ratio.over.min() >= -most && ratio.over.max() <= most;
}

}  // namespace

std::string_view name_of(RealFunction function) {
  static constexpr std::string_view kNames[] = {"floor", "ceil", "round", "sqrt", "exp", "log", "half", "bfloat"};
  const auto number = static_cast<size_t>(function);
  return number < std::size(kNames) ? kNames[number] : "function";
}

std::optional<int64_t> real_key(double number) {
  const auto narrow = static_cast<float>(number);
  if (std::isnan(narrow)) return std::nullopt;
  const auto bits = std::bit_cast<uint32_t>(narrow);
  const auto magnitude = static_cast<int64_t>(bits & 0x7fffffff);
  return bits >> 31 ? -magnitude : magnitude;  // both zeros are 0
}

double real_value(int64_t key) {
  const auto magnitude = static_cast<uint32_t>(std::min(key < 0 ? -std::max(key, -kInfinity) : key, kInfinity));
  const auto number = std::bit_cast<float>(magnitude);
  return key < 0 ? -number : number;
}

std::string real_text(int64_t key) {
  char digits[32];
  const auto [end, problem] = std::to_chars(digits, digits + sizeof(digits), static_cast<float>(real_value(key)));
  return {digits, end};
}

Fault compute_real(Kind operation, int64_t a, int64_t b, int64_t& out) noexcept {
  if (operation == Kind::kWhole) return out = truncated(real_value(a)), Fault::kNone;
  double number = NAN;
  if (operation == Kind::kReal) {
    if (b == 0) return Fault::kZeroDivisor;
    number = static_cast<double>(a) / static_cast<double>(b);
  } else if (operation == Kind::kRealFunction) {
    if (b >= 0 && b <= std::to_underlying(RealFunction::kBFloat))
      number = apply(static_cast<RealFunction>(b), real_value(a));
  } else {
    number = apply(operation, real_value(a), real_value(b));
  }
  const auto key = real_key(number);
  if (!key) return Fault::kNotANumber;
  return out = *key, Fault::kNone;
}

Limits real_limits(Kind kind, const Limits& a, const Limits& b) {
  switch (kind) {
    case Kind::kReal: {
      const auto under = static_cast<double>(clamp_int64(b.min));
      return corner_limits({static_cast<double>(a.min), static_cast<double>(a.max)}, {under},
                           [](double x, double y) { return x / y; });
    }
    case Kind::kWhole: return {truncated(lowest(a)), truncated(highest(a))};
    case Kind::kRealSum: {
      const auto least = real_key(lowest(a) + lowest(b)), greatest = real_key(highest(a) + highest(b));
      return {least.value_or(-kInfinity), greatest.value_or(kInfinity)};
    }
    case Kind::kRealProd:
      return corner_limits({lowest(a), highest(a)}, {lowest(b), highest(b)}, [](double x, double y) { return x * y; });
    case Kind::kRealDiv: return quotient_of_reals(a, b);
    case Kind::kRealPow: return power_limits(a, b);
    default: {  // functions are monotone
      const auto function = static_cast<RealFunction>(clamp_int64(b.min));
      return corner_limits({lowest(a), highest(a)}, {0.0}, [&](double x, double) { return apply(function, x); });
    }
  }
}

std::optional<Ratio> ratio_of(Expr real) {
  if (real.kind() == Kind::kReal) return Ratio{real.lhs(), real.rhs().value()};
  if (!real.is_const()) return std::nullopt;
  const double number = real_value(real.value());
  for (int64_t under = 1; under <= kLargestUnder; under *= 2) {
    const double over = number * static_cast<double>(under);
    if (std::abs(over) > 0x1p53) return std::nullopt;
    if (over == std::floor(over)) return Ratio{static_cast<int64_t>(over), under};
  }
  return std::nullopt;
}

Expr real_of(double number) {
  const auto key = real_key(number);
  return key ? Expr(*key) : invalid(Invalid::kNotANumber);
}

Expr integer_of(Expr e) { return e.kind() == Kind::kReal && e.rhs() == Expr(1) ? e.lhs() : e; }

Expr real(Expr over, int64_t under) {
  CHECK(under > 0);
  for (; under % 2 == 0 && over.is_valid(); under /= 2) {
    const Expr half = floor_div(over, 2);
    if (half * 2 != over) break;
    over = half;
  }
  return made(Kind::kReal, over, under);
}

Expr real_sum(Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  if (const auto same = aligned(a, b)) return real(same->a + same->b, same->under);
  if (a == Expr(0)) return b;
  if (b == Expr(0)) return a;
  const auto [first, second] = ordered(a, b);
  return made(Kind::kRealSum, first, second);
}

Expr real_negative(Expr x) {
  if (const auto ratio = ratio_of(x)) return real(-ratio->over, ratio->under);
  return -x;
}

Expr real_prod(Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  const auto x = ratio_of(a), y = ratio_of(b);
  if (x && y && x->under <= kLargestUnder / y->under) return real(x->over * y->over, x->under * y->under);
  const Expr one = *real_key(1);
  if (a == one) return b;
  if (b == one) return a;
  const auto [first, second] = ordered(a, b);
  return made(Kind::kRealProd, first, second);
}

Expr real_div(Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  // Division by a power of two is a product, in floats too.
  if (const auto divisor = b.constant(); divisor && *divisor != 0 && !a.is_const()) {
    const double inverse = 1 / real_value(*divisor);
    int exponent = 0;
    if (std::abs(std::frexp(inverse, &exponent)) == 0.5) return real_prod(a, *real_key(inverse));
  }
  return made(Kind::kRealDiv, a, b);
}

Expr real_pow(Expr a, Expr b) {
  if (b == Expr(*real_key(1))) return a;
  if (b == Expr(*real_key(2))) return real_prod(a, a);
  return made(Kind::kRealPow, a, b);
}

Expr real_max(Expr a, Expr b) {
  const auto same = aligned(a, b);
  return same ? real(max(same->a, same->b), same->under) : max(a, b);
}
Expr real_min(Expr a, Expr b) {
  const auto same = aligned(a, b);
  return same ? real(min(same->a, same->b), same->under) : min(a, b);
}

Expr real_choice(Expr condition, Expr then, Expr otherwise) {
  const auto chosen = [&](Expr a, Expr b) { return condition * a + (1 - condition) * b; };
  const auto same = aligned(then, otherwise);
  return same ? real(chosen(same->a, same->b), same->under) : chosen(then, otherwise);
}

Expr real_function(RealFunction function, Expr x) {
  const auto code = static_cast<int64_t>(std::to_underlying(function));
  if (!x.is_valid() || x.is_const()) return made(Kind::kRealFunction, x, code);
  const auto ratio = ratio_of(x);
  const bool rounds = is_rounding(code);
  if (rounds && ratio && ratio->under == 1) return x;
  if (rounds && x.kind() == Kind::kRealFunction && is_rounding(x.rhs())) return x;
  const auto quotient = rounds && function != RealFunction::kRound ? quotient_of(x) : std::nullopt;
  if (quotient) {
    const auto [over, under] = *quotient;
    return real(function == RealFunction::kFloor ? floor_div(over, under) : ceil_div(over, under));
  }
  if ((function == RealFunction::kHalf && ratio && fits(*ratio, 11)) ||
      (function == RealFunction::kBFloat && ratio && fits(*ratio, 8))) {
    rely_on(ratio->over);
    return x;
  }
  return made(Kind::kRealFunction, x, code);
}

Expr whole(Expr x) {
  if (const auto quotient = x.is_valid() ? quotient_of(x) : std::nullopt) {
    const auto [over, under] = *quotient;
    if (under.is_const() || (over.min() >= 0 && under.min() >= 0)) {
      if (!under.is_const()) rely_on(over), rely_on(under);
      return under.is_const() && under.value() < 0 ? truncated_div(-over, -under) : truncated_div(over, under);
    }
  }
  return made(Kind::kWhole, x, 0);
}

Expr real_element_at(std::span<const Expr> reals, Expr index) {
  std::vector<Ratio> ratios;
  int64_t under = 1;
  for (const Expr real : reals) {
    const auto ratio = ratio_of(real);
    if (!ratio) return element_at(reals, index);
    ratios.push_back(*ratio);
    under = std::max(under, ratio->under);
  }
  std::vector<Expr> overs;
  for (const Ratio& ratio : ratios) overs.push_back(ratio.over * (under / ratio.under));
  return real(element_at(overs, index), under);
}

Expr real_less(Expr a, Expr b) {
  const auto same = aligned(a, b);
  return same ? less(same->a, same->b) : less(a, b);
}
Expr real_equal(Expr a, Expr b) {
  const auto same = aligned(a, b);
  return same ? equal(same->a, same->b) : equal(a, b);
}

Expr apply_real(Kind operation, Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  switch (operation) {
    case Kind::kReal:
      if (const auto under = b.constant();
          under && *under > 0 && *under <= kLargestUnder && std::has_single_bit(static_cast<uint64_t>(*under)))
        return real(a, *under);
      break;
    case Kind::kWhole: return whole(a);
    case Kind::kRealSum: return real_sum(a, b);
    case Kind::kRealProd: return real_prod(a, b);
    case Kind::kRealDiv: return real_div(a, b);
    case Kind::kRealPow: return real_pow(a, b);
    case Kind::kRealFunction:
      if (const auto code = b.constant()) return real_function(static_cast<RealFunction>(*code), a);
      break;
    default: CHECK(is_real_operation(operation));
  }
  return invalid(Invalid::kNotANumber);
}

}  // namespace kiln::sym
