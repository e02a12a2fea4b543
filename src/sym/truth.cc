/// Uses comparisons among the factors of a term to simplify its other factors.
#include <algorithm>

#include "sym/node.h"

namespace kiln::sym {
namespace {

constexpr uint32_t kMostRewritten = 256;  // nodes of a factor's tree

/// Whether no division inside `e` can be by zero. Replacing a symbol by a value must not cause one where the comparison
/// beside the factor is 0.
bool divides_safely(Expr e) {
  for (const Node* node : operations_of(e)) {
    if (node->kind == Kind::kWithin || is_real_operation(node->kind)) return false;  // they may fail, too
    if (node->kind != Kind::kFloorDiv && node->kind != Kind::kCeilDiv) continue;
    const Limits divisor = limits_of(node->rhs);
    if (divisor.min <= 0 && divisor.max >= 0) return false;
    rely_on(node->rhs);
  }
  return true;
}

/// An expression that equals the factor where `known` holds; the factor itself where nothing simpler is found.
Expr factor_where(const Equality& known, const Node* factor) {
  const Expr as_is = wrap(factor);
  if (factor->size > kMostRewritten || !mentions(as_is, known.is)) return as_is;
  const Expr told = replace(as_is, known.is, known.value);
  const auto constant = told.constant();  // one of the ends of int64 would overflow in most products
  if (constant && (*constant > INT32_MAX || *constant < -INT32_MAX)) return as_is;
  return told.is_valid() && divides_safely(told) ? told : as_is;
}

}  // namespace

std::optional<Equality> equality_of(const Node& truth) {
  if (truth.kind != Kind::kEqual) return std::nullopt;
  const auto gap = subtract(polynomial_of(truth.lhs), polynomial_of(truth.rhs));
  if (!gap || gap->terms.empty() || gap->terms.size() > 2) return std::nullopt;
  for (size_t i = gap->terms.size(); i-- > 0;) {  // of two symbols the later one is replaced
    const Term& term = gap->terms[i];
    if (term.atoms.size() != 1 || (term.coefficient != 1 && term.coefficient != -1)) continue;
    if (gap->terms.size() == 1) {
      if (gap->constant == INT64_MIN) continue;
      return Equality{term.atoms[0], term.coefficient == 1 ? -gap->constant : gap->constant};
    }
    // A symbol mentions nothing, so that what it replaces is gone.
    const Term& other = gap->terms[1 - i];
    if (gap->constant == 0 && other.atoms.size() == 1 && other.atoms[0]->kind == Kind::kSymbol &&
        other.coefficient == -term.coefficient)
      return Equality{term.atoms[0], wrap(other.atoms[0])};
  }
  return std::nullopt;
}

std::optional<Expr> with_equalities(const Term& term) {
  for (const Node* truth : term.atoms) {
    const auto known = equality_of(*truth);
    if (!known) continue;
    std::vector<Expr> factors;
    bool is_news = false;
    for (const Node* atom : term.atoms) {
      factors.push_back(atom == truth ? wrap(atom) : factor_where(*known, atom));
      is_news |= factors.back() != wrap(atom);
    }
    if (!is_news) continue;
    const Expr told = term.coefficient * product(factors);
    if (told.is_valid()) return told;
  }
  return std::nullopt;
}

}  // namespace kiln::sym
