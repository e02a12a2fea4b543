/// Floating-point numbers as expressions, for shape arithmetic in floats: floor(n * 0.3).
///
/// A real is an FP32 number encoded as an integer (its key) that orders as the numbers do: comparisons, max, min,
/// negation and a choice between two (c * x + (1 - c) * y) of keys are those of the integers. There is no NaN; an
/// operation whose result would be one fails when it is evaluated.
///
/// Reals that are quotients of an expression by a power of two up to kLargestUnder are kept as such, and their sums
/// and products are exact: floor(n / 2) *is* floor_div(n, 2). FP32 would round them where n has more than 24 bits. All
/// other results are rounded to FP32 as a device would do it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sym/expr.h"

namespace kiln::sym {

/// Functions of one real; kHalf and kBFloat round to FP16 and BF16. The numbers stand in plans.
enum class RealFunction : uint8_t { kFloor, kCeil, kRound, kSqrt, kExp, kLog, kHalf, kBFloat };
std::string_view name_of(RealFunction function);  ///< "floor", ...

/// The key of a number rounded to FP32; nothing for NaN.
std::optional<int64_t> real_key(double number);
/// The number of a key. Keys beyond that of an infinity are that infinity.
double real_value(int64_t key);
std::string real_text(int64_t key);  ///< as few digits as tell it apart: "0.7"

/// over / under
struct Ratio {
  Expr over;
  int64_t under = 1;
};
inline constexpr int64_t kLargestUnder = 1024;
/// A real as a ratio; nothing where it is none that is kept as such.
std::optional<Ratio> ratio_of(Expr real);

/// The integer whose real a whole real is; any other expression itself. Elements of inputs are symbols, or their reals.
Expr integer_of(Expr e);

// Keys out of them.
Expr real_of(double number);              ///< invalid for NaN
Expr real(Expr over, int64_t under = 1);  ///< over / under; `under` is a power of two, up to kLargestUnder
Expr real_sum(Expr a, Expr b);
Expr real_negative(Expr x);
Expr real_prod(Expr a, Expr b);
Expr real_div(Expr a, Expr b);
Expr real_pow(Expr a, Expr b);
Expr real_max(Expr a, Expr b);
Expr real_min(Expr a, Expr b);
/// `then` where `condition` is 1, else (0) `otherwise`.
Expr real_choice(Expr condition, Expr then, Expr otherwise);
Expr real_function(RealFunction function, Expr x);
/// The real at an index that is known at run time only, like element_at.
Expr real_element_at(std::span<const Expr> reals, Expr index);
// Keys in, integers out.
Expr whole(Expr x);  ///< rounded towards zero, and saturated to int64
Expr real_less(Expr a, Expr b);
Expr real_equal(Expr a, Expr b);

/// Any of the operations on reals by its kind (CHECKs that it is one).
Expr apply_real(Kind operation, Expr a, Expr b);

}  // namespace kiln::sym
