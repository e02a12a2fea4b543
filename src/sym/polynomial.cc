#include "sym/polynomial.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "sym/checked.h"
#include "sym/node.h"

namespace kiln::sym {
namespace {

bool atom_before(const Node* a, const Node* b) { return a != b && compare(wrap(a), wrap(b)) < 0; }

int compare_atoms(const std::vector<const Node*>& a, const std::vector<const Node*>& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return compare(wrap(a[i]), wrap(b[i]));
  return 0;
}

std::vector<const Node*> merge_atoms(const std::vector<const Node*>& a, const std::vector<const Node*>& b) {
  std::vector<const Node*> out;
  out.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out), atom_before);
  const auto is_repeated_truth = [](const Node* x, const Node* y) { return x == y && x->is_truth; };
  out.erase(std::unique(out.begin(), out.end(), is_repeated_truth), out.end());
  return out;
}

/// Sorts terms and adds up those of equal atoms. False on overflow.
bool normalise(std::vector<Term>& terms) {
  sort(terms);
  size_t kept = 0;
  for (size_t i = 0; i < terms.size();) {
    // Overflow of a partial sum alone is not one: coefficients may cancel.
    __extension__ __int128 sum = 0;
    size_t end = i;
    for (; end < terms.size() && terms[end].atoms == terms[i].atoms; ++end) sum += terms[end].coefficient;
    if (sum < INT64_MIN || sum > INT64_MAX) return false;
    if (sum != 0) {
      Term merged{static_cast<int64_t>(sum), std::move(terms[i].atoms)};
      terms[kept++] = std::move(merged);
    }
    i = end;
  }
  terms.resize(kept);
  return true;
}

bool has_atoms(const std::vector<const Node*>& all, const std::vector<const Node*>& part) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end(), atom_before);
}

std::vector<const Node*> common_atoms(const std::vector<const Node*>& a, const std::vector<const Node*>& b) {
  std::vector<const Node*> out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out), atom_before);
  return out;
}

/// gcd of magnitudes, kept positive; INT64_MIN's magnitude counts as 2^62, a divisor of it that fits.
int64_t gcd(int64_t a, int64_t b) {
  const auto magnitude = [](int64_t x) { return x == INT64_MIN ? int64_t{1} << 62 : x < 0 ? -x : x; };
  return std::gcd(magnitude(a), magnitude(b));
}

}  // namespace

void sort(std::vector<Term>& terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return compare_atoms(a.atoms, b.atoms) < 0; });
}

size_t Polynomial::weight() const {
  size_t sum = constant != 0;
  for (const Term& term : terms) sum += 1 + term.atoms.size();
  return sum;
}

std::optional<Polynomial> add(const Polynomial& a, const Polynomial& b) {
  const auto constant = checked_add(a.constant, b.constant);
  if (!constant) return std::nullopt;
  Polynomial out{a.terms, *constant};
  out.terms.insert(out.terms.end(), b.terms.begin(), b.terms.end());
  if (!a.terms.empty() && !b.terms.empty() && !normalise(out.terms)) return std::nullopt;
  return out;
}

std::optional<Polynomial> scale(const Polynomial& a, int64_t factor) {
  if (factor == 0) return Polynomial{};
  const auto constant = checked_mul(a.constant, factor);
  if (!constant) return std::nullopt;
  Polynomial out{a.terms, *constant};
  for (Term& term : out.terms)
    if (__builtin_mul_overflow(term.coefficient, factor, &term.coefficient)) return std::nullopt;
  return out;
}

std::optional<Polynomial> subtract(const Polynomial& a, const Polynomial& b) {
  const auto constant = checked_sub(a.constant, b.constant);
  const auto negated = scale({b.terms, 0}, -1);
  if (!constant || !negated) return std::nullopt;
  auto out = add({a.terms, 0}, *negated);
  if (out) out->constant = *constant;
  return out;
}

std::optional<Polynomial> multiply(const Polynomial& a, const Polynomial& b) {
  const auto constant = checked_mul(a.constant, b.constant);
  if (!constant) return std::nullopt;
  Polynomial out{{}, *constant};
  const auto put = [&](int64_t x, int64_t y, std::vector<const Node*> atoms) {
    const auto coefficient = checked_mul(x, y);
    if (coefficient && *coefficient) out.terms.push_back({*coefficient, std::move(atoms)});
    return coefficient.has_value();
  };
  for (const Term& x : a.terms) {
    for (const Term& y : b.terms)
      if (!put(x.coefficient, y.coefficient, merge_atoms(x.atoms, y.atoms))) return std::nullopt;
    if (!put(x.coefficient, b.constant, x.atoms)) return std::nullopt;
  }
  for (const Term& y : b.terms)
    if (!put(a.constant, y.coefficient, y.atoms)) return std::nullopt;
  if (!normalise(out.terms)) return std::nullopt;
  return out;
}

std::optional<Term> divide(const Term& a, const Term& d) {
  if (d.coefficient == -1 && a.coefficient == INT64_MIN) return std::nullopt;
  if (a.coefficient % d.coefficient != 0 || !has_atoms(a.atoms, d.atoms)) return std::nullopt;
  Term out{a.coefficient / d.coefficient, {}};
  std::set_difference(a.atoms.begin(), a.atoms.end(), d.atoms.begin(), d.atoms.end(), std::back_inserter(out.atoms),
                      atom_before);
  return out;
}

std::optional<Polynomial> exact_quotient(const Polynomial& p, const Polynomial& d) {
  const auto leading = [](const Polynomial& x) { return x.terms.empty() ? Term{x.constant, {}} : x.terms.front(); };
  const Term divisor = leading(d);
  Polynomial quotient, rest = p;
  // An exact quotient's terms are found one a step, greatest first; it has no more than this.
  for (size_t step = 0; step < 4 * p.num_terms() + 4 && !rest.is_zero(); ++step) {
    auto term = divide(leading(rest), divisor);
    if (!term) return std::nullopt;
    Polynomial part;
    if (term->atoms.empty())
      part.constant = term->coefficient;
    else
      part.terms.push_back(*std::move(term));
    const auto product = multiply(part, d);
    auto next = product ? subtract(rest, *product) : std::nullopt;
    auto sum = add(quotient, part);
    if (!next || !sum) return std::nullopt;
    rest = *std::move(next);
    quotient = *std::move(sum);
  }
  if (!rest.is_zero()) return std::nullopt;
  return quotient;
}

int64_t content(const Polynomial& p) {
  int64_t out = 0;
  for (const Term& term : p.terms) out = gcd(out, term.coefficient);
  return out;
}

Term common_factor(const Polynomial& p, const Polynomial& d) {
  Term out{gcd(content(p), content(d)), {}};
  bool first = true;
  for (const Polynomial* each : {&p, &d}) {
    for (const Term& term : each->terms) {
      out.atoms = first ? term.atoms : common_atoms(out.atoms, term.atoms);
      first = false;
    }
    if (each->constant == 0) continue;
    out.coefficient = gcd(out.coefficient, each->constant);
    out.atoms.clear();
    first = false;
  }
  return out;
}

}  // namespace kiln::sym
