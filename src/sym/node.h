/// What stands behind an Expr, and how this folder makes one. Not for other folders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sym/expr.h"
#include "sym/polynomial.h"

namespace kiln::sym {

struct Limits {
  int64_t min, max, opt;
};

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
  mutable uint64_t limits_version = 0;  ///< of the table's bounds, for `limits`
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

const Limits& limits_of(const Node& node);
/// Limits of a polynomial in the mathematical integers, saturating far beyond int64.
struct WideLimits {
  __extension__ __int128 min, max;
};
WideLimits limits_of(const Polynomial& p);
/// Limits of a quotient, from those of the operands; nothing if the divisor can only be zero.
std::optional<Limits> quotient_limits(Kind kind, Expr a, Expr b);
/// Records that a simplification holds because of the bounds of these symbols; see Table::set_bounds.
void rely_on(const Polynomial& p);
void rely_on(Expr e);

/// The sign of a polynomial as far as bounds tell.
enum class Sign : uint8_t { kNegative, kNotPositive, kZero, kNotNegative, kPositive, kUnknown };
Sign sign_of(const Polynomial& p);

}  // namespace kiln::sym
