/// The node behind an Expr, and how this folder makes one. Not for other folders.
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

/// Nodes share their operands: an expression is a graph without cycles, and may be far smaller than the tree that it
/// stands for. Walks visit each node once (`operations_of`); only small trees are walked as trees.
struct Node {
  Kind kind = Kind::kInvalid;
  bool is_atom = true;    ///< an indivisible factor of polynomials; else kSum, kSub or kProd over atoms
  bool is_truth = false;  ///< 0 or 1 whatever the bounds are: a comparison, or a maximum or minimum of such
  Table* table = nullptr;
  Expr lhs, rhs;  ///< of an operation

  std::string name;  ///< of a symbol, as are the next two
  int symbol_id = -1;
  Bounds bounds{};

  uint32_t number = 0;  ///< in the table; operands have smaller ones
  uint32_t size = 1;    ///< nodes of the tree, shared ones counted each time; at most kManyNodes

  mutable int fact = -1;  ///< index of the table's facts: that this node's value is at least so much
  mutable Limits limits{};
  mutable int64_t opt = 0;
  mutable uint64_t limits_version = 0;  ///< of the table's bounds, for `limits` and `opt`
  mutable uint64_t relied_version = 0;  ///< the same, when `rely_on` last came by
  mutable uint64_t visit = 0;           ///< the number of the walk that last came by
};

inline constexpr uint32_t kManyNodes = 1U << 30;
/// Trees up to this size are walked by recursion, as trees.
inline constexpr uint32_t kSmallTree = 64;

enum class Invalid : uint8_t { kOverflow, kZeroDivisor, kNotANumber, kOutside };

Expr wrap(const Node* node);
Expr invalid(int reason);
inline Expr invalid(Invalid reason) { return invalid(static_cast<int>(reason)); }
/// The first invalid one of a and b; nothing if both are valid.
std::optional<Expr> invalid_operand(Expr a, Expr b);
/// The table of a or b, null if both are constants. CHECKs that they share it.
Table* common_table(Expr a, Expr b);

/// The node of an operation on canonical operands of which one is no constant.
Expr intern(Kind kind, Expr lhs, Expr rhs, bool is_atom = true);
/// Total order that depends on structure alone: constants, symbols by id, operations.
int compare(Expr a, Expr b);

inline bool is_operation(const Node& node) { return is_operation(node.kind); }
inline uint32_t size_of(Expr e) { return e.node() ? e.node()->size : 1; }
/// The distinct operations of a valid expression, operands before what they are operands of. Those that `enter` refuses
/// are left out, with all below them.
std::vector<const Node*> operations_of(Expr e, bool (*enter)(const Node&) = nullptr);
/// Operations of `e` that are worth a name of their own, operands first: those that occur more than once, and as many
/// of the others as leave every part shallow. None if `e` is a tree of at most `plain` nodes.
std::vector<const Node*> shared_operations(Expr e, uint32_t plain);
/// `e` with one node replaced everywhere.
Expr replace(Expr e, const Node* node, Expr by);
/// Whether `node` occurs in `e`.
bool mentions(Expr e, const Node* node);

Polynomial polynomial_of(Expr e);                ///< `e` is valid
Expr build(const Polynomial& p);                 ///< the canonical tree
Expr build(const std::optional<Polynomial>& p);  ///< nothing stands for an overflow
/// A term whose factors know what the comparisons among them say, n * equal(n, 2) as 2 * equal(n, 2); nothing if they
/// do already.
std::optional<Expr> with_equalities(const Term& term);
/// Where `truth` is 1 the node `is` has the value `value`.
struct Equality {
  const Node* is;
  Expr value;
};
std::optional<Equality> equality_of(const Node& truth);

/// Brings the node's `limits` and `opt` up to date with the bounds.
const Node& refresh(const Node& node);
Limits limits_of(Expr e);  ///< `e` is valid
Limits limits_of(const Polynomial& p);
/// Limits of a quotient, from those of the operands; nothing if the divisor can only be zero.
std::optional<Limits> quotient_limits(Kind kind, const Limits& a, const Limits& b);
/// Limits of an operation on reals, from those of its operands.
Limits real_limits(Kind kind, const Limits& a, const Limits& b);
/// Records that a simplification holds because of the bounds of these symbols; see Table::set_bounds.
void rely_on(const Polynomial& p);
void rely_on(Expr e);

/// The sign of a polynomial as far as bounds tell.
enum class Sign : uint8_t { kNegative, kNotPositive, kZero, kNotNegative, kPositive, kUnknown };
Sign sign_of(const Limits& limits);
Sign sign_of(const Polynomial& p);

}  // namespace kiln::sym
