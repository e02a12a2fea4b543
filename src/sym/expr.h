/// Dimension expressions: immutable values over named symbols, kept in a canonical form so that shape arithmetic
/// dissolves. `(n*c*h*w) / (n*c)` *is* `h*w`; equal forms are the same node.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace kiln::sym {

/// Constants, symbols, TensorRT's nine DimensionOperations in its order, what has no value, an index that is
/// checked, and arithmetic of floating-point numbers (real.h). The numbers stand in plans.
enum class Kind : uint8_t {
  kConst,
  kSymbol,
  kSum,
  kProd,
  kMax,
  kMin,
  kSub,
  kEqual,
  kLess,
  kFloorDiv,
  kCeilDiv,
  kInvalid,
  kWithin = 15,  ///< lhs, which must lie in [0, rhs)
  kReal,         ///< lhs / rhs as a real; rhs is a constant
  kWhole,        ///< the real lhs rounded towards zero
  kRealSum,
  kRealProd,
  kRealDiv,
  kRealPow,
  kRealFunction  ///< of the real lhs; rhs is the constant number of a RealFunction
};
/// Whether expressions of the kind have operands.
constexpr bool is_operation(Kind kind) { return kind > Kind::kSymbol && kind != Kind::kInvalid; }
/// Whether it is one of the operations on reals.
constexpr bool is_real_operation(Kind kind) { return kind >= Kind::kReal; }

/// Inclusive; `opt` is the value tuned for.
struct Bounds {
  int64_t min, opt, max;
  bool operator==(const Bounds&) const = default;
};
/// Bounds of an extent about which nothing is known.
inline constexpr Bounds kAnyExtent{0, 1, INT64_MAX};
/// Bounds of a shape tensor's value about which nothing is known.
inline constexpr Bounds kAnyValue{INT64_MIN, 0, INT64_MAX};

class Table;
struct Node;

/// A constant, or a pointer to a node that a Table interned and owns. Copied freely; 16 bytes.
///
/// Arithmetic is that of the mathematical integers: simplification may remove an overflow that evaluating as written
/// would have met (`n*m/m`), and takes divisors not to be zero (`n/n` is 1). Near the ends of int64 it may also add
/// one. What is certainly undefined (a constant overflows, a divisor is the constant zero) gives an *invalid*
/// expression, which every operation hands on; ask `is_valid()` once, where inference ends. No size is too large.
class Expr {
 public:
  Expr() = default;  ///< 0
  template <std::integral T>
  requires(!std::same_as<T, bool>) Expr(T constant) : value_(static_cast<int64_t>(constant)) {}

  bool is_valid() const { return kind() != Kind::kInvalid; }
  std::string_view why_invalid() const;  ///< "a constant overflows int64", ...; empty if valid
  bool is_const() const { return !node_; }
  int64_t value() const;  ///< of a constant; CHECKs
  std::optional<int64_t> constant() const { return node_ ? std::nullopt : std::optional(value_); }

  Kind kind() const;
  bool is_symbol() const { return kind() == Kind::kSymbol; }
  std::string_view name() const;  ///< of a symbol; CHECKs
  int symbol_id() const;          ///< of a symbol: its index in Table::symbols(); CHECKs
  Expr lhs() const;               ///< operands; CHECK that it has any
  Expr rhs() const;

  /// Limits that the bounds of the symbols imply: sound, and exact if no symbol occurs twice. An invalid expression
  /// has all of int64.
  int64_t min() const;
  int64_t max() const;
  int64_t opt() const;  ///< with every symbol at its opt, saturating; 0 where that divides by zero

  /// The same canonical form. `compare_equal` also knows bounds.
  friend bool operator==(Expr a, Expr b) { return a.node_ == b.node_ && a.value_ == b.value_; }

  const Node* node() const { return node_; }  ///< for this folder; null for a constant
  Table* table() const;                       ///< null for a constant or an invalid expression

 private:
  friend Expr wrap(const Node* node);
  friend Expr invalid(int reason);
  const Node* node_ = nullptr;
  int64_t value_ = 0;  // of a constant; the reason of an invalid one; else 0
};

// Symbols on both sides must be of one Table (CHECK).
Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
inline Expr operator-(Expr a) { return Expr(0) - a; }
inline Expr& operator+=(Expr& a, Expr b) { return a = a + b; }
inline Expr& operator-=(Expr& a, Expr b) { return a = a - b; }
inline Expr& operator*=(Expr& a, Expr b) { return a = a * b; }
Expr floor_div(Expr a, Expr b);  ///< rounds towards minus infinity
Expr ceil_div(Expr a, Expr b);   ///< rounds towards plus infinity
/// Rounds towards zero. b is positive, or neither may be negative.
Expr truncated_div(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr min(Expr a, Expr b);
Expr equal(Expr a, Expr b);  ///< 1 if a = b, else 0
Expr less(Expr a, Expr b);   ///< 1 if a < b, else 0
/// `index`, whose evaluation fails unless it lies in [0, count).
Expr within(Expr index, Expr count);
/// The value at an index that is known at run time only; one outside of [0, their number) is an error.
Expr element_at(std::span<const Expr> values, Expr index);
/// Any operation by its kind (CHECKs that it is one).
Expr apply(Kind operation, Expr a, Expr b);
Expr product(std::span<const Expr> factors);  ///< 1 if there are none

/// "batch", "2*h + 1", "floor_div(n, 2)", shortened if long (text.h). A name that is no identifier is quoted.
void append(std::string& out, Expr e);
/// Reads what `append_exact` writes; a name new to the table becomes a symbol with bounds kAnyExtent.
Result<Expr> parse(std::string_view text, Table& table);

enum class Truth : uint8_t { kNo, kYes, kUnknown };
/// Whether a = b for all, for no, or perhaps for some values of the symbols within their bounds.
Truth compare_equal(Expr a, Expr b);
Truth compare_less(Expr a, Expr b);
inline bool provably_equal(Expr a, Expr b) { return compare_equal(a, b) == Truth::kYes; }
inline bool provably_different(Expr a, Expr b) { return compare_equal(a, b) == Truth::kNo; }
inline bool provably_less(Expr a, Expr b) { return compare_less(a, b) == Truth::kYes; }
inline bool provably_less_equal(Expr a, Expr b) { return compare_less(b, a) == Truth::kNo; }

/// `e` with symbols replaced. If all its symbols are, the replacements may be of another Table.
Expr substitute(Expr e, std::span<const std::pair<Expr, Expr>> replacements);
/// Appends the symbols of `e` that `out` lacks, in order of first appearance.
void collect_symbols(Expr e, std::vector<Expr>& out);
/// The value with symbol i bound to `symbols[i]`. Overflow, division by zero, an unbound symbol and an invalid
/// expression are errors.
Result<int64_t> evaluate(Expr e, std::span<const int64_t> symbols);

}  // namespace kiln::sym
