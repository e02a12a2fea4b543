/// Polynomials with int64 coefficients over atoms: what sums, differences and products are made canonical by.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace kiln::sym {

struct Node;

/// coefficient * atoms[0] * atoms[1] * ...: atoms sorted, repeated for powers (except those of a truth, which is its
/// own square), at least one; coefficient not 0.
struct Term {
  int64_t coefficient;
  std::vector<const Node*> atoms;
};
/// Terms sorted by falling degree and then by atoms (a monomial order, so that division terminates), plus a constant.
struct Polynomial {
  std::vector<Term> terms;
  int64_t constant = 0;

  bool is_constant() const { return terms.empty(); }
  bool is_zero() const { return terms.empty() && constant == 0; }
  /// One term and no constant.
  bool is_monomial() const { return terms.size() == 1 && constant == 0; }
  size_t num_terms() const { return terms.size() + (constant != 0); }
  size_t degree() const { return terms.empty() ? 0 : terms.front().atoms.size(); }
  size_t weight() const;  ///< coefficients and atoms: what it costs to work with
};

// Nothing: a coefficient overflows.
std::optional<Polynomial> add(const Polynomial& a, const Polynomial& b);
std::optional<Polynomial> subtract(const Polynomial& a, const Polynomial& b);
std::optional<Polynomial> multiply(const Polynomial& a, const Polynomial& b);
std::optional<Polynomial> scale(const Polynomial& a, int64_t factor);

/// Puts terms of different atoms in their order.
void sort(std::vector<Term>& terms);
/// a / d where d divides every term (atoms and coefficient).
std::optional<Term> divide(const Term& a, const Term& d);
/// q with q * d = p; nothing if there is none with integer coefficients. d is not zero.
std::optional<Polynomial> exact_quotient(const Polynomial& p, const Polynomial& d);
/// The greatest positive integer that divides all coefficients, without that of the constant; 0 for a constant.
int64_t content(const Polynomial& p);
/// The greatest monomial (coefficient included, positive) that divides p and d; its atoms may be empty.
Term common_factor(const Polynomial& p, const Polynomial& d);

}  // namespace kiln::sym
