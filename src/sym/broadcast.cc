#include "sym/broadcast.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sym/node.h"

namespace kiln::sym {
namespace {

using Operands = std::vector<Expr>;

void flatten(Kind kind, Expr e, Operands& out) {
  if (e.kind() != kind) return out.push_back(e);
  flatten(kind, e.lhs(), out);
  flatten(kind, e.rhs(), out);
}

/// max(operands), and 0 where one that may be 0 is.
Expr extent_of(const Operands& operands) {
  Expr most = operands[0], guard = 1;
  for (Expr x : operands) {
    most = max(most, x);
    guard = min(guard, x);
  }
  return most * guard;
}

/// The operands of which `extent_of` made `e`, if these may be 0; otherwise `e` itself. Operands that cannot be 0 need
/// not be taken apart, because their maximum has one form.
Operands operands_of(Expr e) {
  if (e.kind() == Kind::kProd)
    for (Expr side : {e.lhs(), e.rhs()}) {
      if (side.kind() != Kind::kMax) continue;
      Operands operands;
      flatten(Kind::kMax, side, operands);
      if (extent_of(operands) == e) return operands;
    }
  return {e};
}

}  // namespace

Expr broadcast(Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  if (a == b || b == Expr(1)) return a;
  if (a == Expr(1)) return b;
  for (const auto& [x, other] : {std::pair(a, b), std::pair(b, a)})
    if (x.min() >= 0 && x.max() <= 1) {  // it repeats or leaves nothing
      rely_on(x);
      return x == min(other, 1) ? other : a * b;
    }
  Operands operands = operands_of(a);
  for (Expr x : operands_of(b))
    if (std::ranges::find(operands, x) == operands.end()) operands.push_back(x);
  return extent_of(operands);
}

}  // namespace kiln::sym
