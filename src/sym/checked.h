/// int64 arithmetic that notices overflow and zero divisors: the one meaning of the operations on numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sym/expr.h"

namespace kiln::sym {

enum class Fault : uint8_t { kNone, kOverflow, kZeroDivisor, kNotANumber, kOutside };

inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t out;
  return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}
inline std::optional<int64_t> checked_sub(int64_t a, int64_t b) {
  int64_t out;
  return __builtin_sub_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}
inline std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t out;
  return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}

/// Mathematical floor; b is not 0, and not -1 where a is INT64_MIN.
constexpr int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
constexpr int64_t ceil_quotient(int64_t a, int64_t b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }

/// The same for operations on reals.
Fault compute_real(Kind operation, int64_t a, int64_t b, int64_t& out) noexcept;

/// out = a `operation` b; leaves `out` alone on a fault.
inline Fault compute(Kind operation, int64_t a, int64_t b, int64_t& out) noexcept {
  int64_t sum;  // the builtins store even when they overflow
  switch (operation) {
    case Kind::kSum:
      if (__builtin_add_overflow(a, b, &sum)) return Fault::kOverflow;
      return out = sum, Fault::kNone;
    case Kind::kSub:
      if (__builtin_sub_overflow(a, b, &sum)) return Fault::kOverflow;
      return out = sum, Fault::kNone;
    case Kind::kProd:
      if (__builtin_mul_overflow(a, b, &sum)) return Fault::kOverflow;
      return out = sum, Fault::kNone;
    case Kind::kMax: return out = a > b ? a : b, Fault::kNone;
    case Kind::kMin: return out = a < b ? a : b, Fault::kNone;
    case Kind::kEqual: return out = a == b, Fault::kNone;
    case Kind::kLess: return out = a < b, Fault::kNone;
    case Kind::kFloorDiv:
    case Kind::kCeilDiv:
      if (b == 0) return Fault::kZeroDivisor;
      if (b == -1 && a == INT64_MIN) return Fault::kOverflow;
      return out = operation == Kind::kFloorDiv ? floor_quotient(a, b) : ceil_quotient(a, b), Fault::kNone;
    case Kind::kWithin:
      if (a < 0 || a >= b) return Fault::kOutside;
      return out = a, Fault::kNone;
    // Callers dispatch constants, symbols and invalid expressions themselves.
    default: return is_real_operation(operation) ? compute_real(operation, a, b, out) : Fault::kOverflow;
  }
}

/// "sum", "floor_div" ...: the operation in messages and in text.
std::string_view name_of(Kind kind);
/// "7 floor_div 0 divides by zero"
std::unexpected<Error> fault_error(Fault fault, Kind operation, int64_t a, int64_t b);

}  // namespace kiln::sym
