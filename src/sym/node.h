/// What stands behind an Expr, and how this folder makes one. Not for other folders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sym/expr.h"
#include "sym/polynomial.h"

namespace kiln::sym {

__extension__ typedef __int128 Int128;

/// Limits in the mathematical integers, saturating far beyond int64. Were they cut to int64, a form that overflows
/// where the expression as written does not could be "proved" to have a wrong value.
struct Limits {
  Int128 min, max;
};
inline int64_t clamp_int64(Int128 x) {
  return x < INT64_MIN ? INT64_MIN : x > INT64_MAX ? INT64_MAX : static_cast<int64_t>(x);
}

struct Node {
  Kind kind = Kind::kInvalid;
  bool is_atom = true;  ///< an indivisible factor of polynomials; else kSum, kSub or kProd over atoms
  Table* table = nullptr;
  Expr lhs, rhs;  ///< of an operation

  std::string name;  ///< of a symbol, as are the next two
  int symbol_id = -1;
  Bounds bounds{};

  uint32_t size = 1;   ///< nodes of the tree, shared ones counted each time
  uint32_t stack = 1;  ///< values a postfix program needs at once

  mutable Limits limits{};
  mutable int64_t opt = 0;
  mutable uint64_t limits_version = 0;  ///< of the table's bounds, for `limits` and `opt`
  mutable uint64_t relied_version = 0;  ///< the same, when `rely_on` last came by
};

enum class Invalid : uint8_t { kOverflow, kZeroDivisor, kTooLarge };
inline constexpr uint32_t kMaxSize = 4096;  // walks over trees are recursive, and linear in this
inline constexpr uint32_t kMaxStackNeeded = 256;

Expr wrap(const Node* node);
Expr invalid(int reason);
inline Expr invalid(Invalid reason) { return invalid(static_cast<int>(reason)); }
/// The first invalid one of a and b; nothing if both are valid.
std::optional<Expr> invalid_operand(Expr a, Expr b);
/// The table of a or b, null if both are constants. CHECKs that they share it.
Table* common_table(Expr a, Expr b);

/// The node of an operation on canonical operands of which one is no constant; invalid if it becomes too large.
Expr intern(Kind kind, Expr lhs, Expr rhs, bool is_atom = true);
/// Total order that depends on structure alone: constants, symbols by id, operations.
int compare(Expr a, Expr b);

Polynomial polynomial_of(Expr e);                ///< `e` is valid
Expr build(const Polynomial& p);                 ///< the canonical tree
Expr build(const std::optional<Polynomial>& p);  ///< nothing stands for an overflow

/// Brings the node's `limits` and `opt` up to date with the bounds.
const Node& refresh(const Node& node);
Limits limits_of(Expr e);  ///< `e` is valid
Limits limits_of(const Polynomial& p);
/// Limits of a quotient, from those of the operands; nothing if the divisor can only be zero.
std::optional<Limits> quotient_limits(Kind kind, const Limits& a, const Limits& b);
/// Records that a simplification holds because of the bounds of these symbols; see Table::set_bounds.
void rely_on(const Polynomial& p);
void rely_on(Expr e);

/// The sign of a polynomial as far as bounds tell.
enum class Sign : uint8_t { kNegative, kNotPositive, kZero, kNotNegative, kPositive, kUnknown };
Sign sign_of(const Polynomial& p);

}  // namespace kiln::sym
