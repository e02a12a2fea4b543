/// floor_div and ceil_div: quotients that come out even dissolve, the rest is brought to one form.
#include <numeric>

#include "sym/checked.h"
#include "sym/node.h"

namespace kiln::sym {
namespace {

Expr divide(Kind kind, Expr a, Expr b);

/// p = whole * d + rest, with every term in `whole` that d divides. d is a constant or a monomial.
struct Split {
  Polynomial whole, rest;
};
Split split(const Polynomial& p, const Polynomial& d) {
  const Term divisor = d.is_constant() ? Term{d.constant, {}} : d.terms.front();
  Split out;
  for (const Term& term : p.terms) {
    auto part = divide(term, divisor);
    if (!part)
      out.rest.terms.push_back(term);
    else if (part->atoms.empty())
      out.whole.constant = part->coefficient;  // at most once: terms differ in their atoms
    else
      out.whole.terms.push_back(*std::move(part));
  }
  out.rest.constant = p.constant;
  if (d.is_constant()) {  // positive; and `whole` has no constant yet
    out.whole.constant = floor_quotient(p.constant, d.constant);
    out.rest.constant = p.constant % d.constant + (p.constant % d.constant < 0 ? d.constant : 0);
  }
  return out;
}

/// Every term of p divided by a monomial that is known to divide it.
Polynomial divided(const Polynomial& p, const Term& by) {
  Polynomial out;
  for (const Term& term : p.terms) {
    Term part = *divide(term, by);
    if (part.atoms.empty())
      out.constant = part.coefficient;
    else
      out.terms.push_back(std::move(part));
  }
  if (by.atoms.empty()) out.constant = p.constant / by.coefficient;
  return out;
}

/// rest / d with a common factor cancelled, if there is one.
std::optional<Expr> cancel(Kind kind, const Polynomial& rest, const Polynomial& d) {
  if (d.is_constant()) {
    // floor((g*r + k) / (g*d)) = floor((r + floor(k/g)) / d)
    const int64_t g = std::gcd(content(rest), d.constant);
    if (g <= 1) return std::nullopt;
    Polynomial reduced = divided({rest.terms, 0}, {g, {}});
    reduced.constant = floor_quotient(rest.constant, g);
    return divide(kind, build(reduced), d.constant / g);
  }
  Term common = common_factor(rest, d);
  const bool negative = d.terms.front().coefficient < 0;
  if (common.coefficient <= 1 && common.atoms.empty() && !negative) return std::nullopt;
  const auto p = scale(divided(rest, common), negative ? -1 : 1);
  const auto q = scale(divided(d, common), negative ? -1 : 1);
  if (!p || !q) return std::nullopt;
  return divide(kind, build(*p), build(*q));
}

/// (x/y + k) / d = (x + k*y) / (y*d) for d > 0, both rounding the same way.
std::optional<Expr> unnest(Kind kind, const Polynomial& rest, Expr b) {
  if (rest.terms.size() != 1 || rest.terms[0].coefficient != 1 || rest.terms[0].atoms.size() != 1) return std::nullopt;
  const Node& inner = *rest.terms[0].atoms[0];
  if (inner.kind != kind || b.min() < 1) return std::nullopt;
  const Expr out = divide(kind, inner.lhs + rest.constant * inner.rhs, inner.rhs * b);
  if (!out.is_valid()) return std::nullopt;
  rely_on(b);
  return out;
}

/// The quotient if bounds leave it only one value: 0 for w / n with 0 <= w < n.
std::optional<Expr> decide(Kind kind, const Polynomial& rest, const Polynomial& d, Expr a, Expr b) {
  const auto decided = [&](int64_t value) {
    rely_on(a);
    rely_on(b);
    return Expr(value);
  };
  const auto limits = quotient_limits(kind, limits_of(a), limits_of(b));
  if (limits && limits->min == limits->max && limits->min == clamp_int64(limits->min))
    return decided(clamp_int64(limits->min));
  if (b.min() < 1) return std::nullopt;
  const auto below = subtract(rest, d);  // negative: the quotient is below 1
  const auto above = add(rest, d);       // positive: it is above -1
  if (!below || !above) return std::nullopt;
  const bool lt_d = sign_of(*below) == Sign::kNegative, gt_minus_d = sign_of(*above) == Sign::kPositive;
  if (kind == Kind::kFloorDiv && a.min() >= 0 && lt_d) return decided(0);
  if (kind == Kind::kFloorDiv && a.max() < 0 && (gt_minus_d || sign_of(*above) == Sign::kNotNegative))
    return decided(-1);
  if (kind == Kind::kCeilDiv && a.max() <= 0 && gt_minus_d) return decided(0);
  if (kind == Kind::kCeilDiv && a.min() > 0 && (lt_d || sign_of(*below) == Sign::kNotPositive)) return decided(1);
  return std::nullopt;
}

/// c * x / d = c * (x / d) where c is a truth.
std::optional<Expr> without_truths(Kind kind, const Polynomial& p, Expr b) {
  if (!p.is_monomial()) return std::nullopt;
  Term rest{p.terms[0].coefficient, {}};
  Expr truths = 1;
  for (const Node* atom : p.terms[0].atoms)
    if (atom->is_truth)
      truths *= wrap(atom);
    else
      rest.atoms.push_back(atom);
  if (truths == Expr(1)) return std::nullopt;
  return truths * divide(kind, rest.atoms.empty() ? Expr(rest.coefficient) : build({{rest}, 0}), b);
}

Expr divide_constants(Kind kind, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (compute(kind, a, b, out)) {
    case Fault::kNone: return out;
    case Fault::kOverflow: return invalid(Invalid::kOverflow);
    case Fault::kZeroDivisor:
    case Fault::kNotANumber:
    case Fault::kOutside: break;
  }
  return invalid(Invalid::kZeroDivisor);
}

Expr divide(Kind kind, Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  if (b == Expr(0)) return invalid(Invalid::kZeroDivisor);
  if (!common_table(a, b)) return divide_constants(kind, a.value(), b.value());
  if (a == Expr(0) || b == Expr(1)) return a;
  if (b.is_const() && b.value() < 0) return divide(kind, -a, -b);
  if (b.is_const() && kind == Kind::kCeilDiv) return divide(Kind::kFloorDiv, a + (b - 1), b);

  const Polynomial p = polynomial_of(a), d = polynomial_of(b);
  if (const auto exact = exact_quotient(p, d)) return build(*exact);
  if (d.is_constant() || d.is_monomial()) {
    const Split parts = split(p, d);
    if (!parts.whole.is_zero()) return build(parts.whole) + divide(kind, build(parts.rest), b);
  }
  if (const auto out = cancel(kind, p, d)) return *out;
  if (const auto out = without_truths(kind, p, b)) return *out;
  if (const auto out = decide(kind, p, d, a, b)) return *out;
  if (const auto out = unnest(kind, p, b)) return *out;
  return intern(kind, a, b);
}

}  // namespace

Expr floor_div(Expr a, Expr b) { return divide(Kind::kFloorDiv, a, b); }
Expr ceil_div(Expr a, Expr b) { return divide(Kind::kCeilDiv, a, b); }

/// A negative number's ceiling, another's floor.
Expr truncated_div(Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  if (a.is_const() || b == Expr(1)) return a.is_const() && a.value() < 0 ? ceil_div(a, b) : floor_div(a, b);
  if (a.min() < 0) return max(floor_div(a, b), 0) + min(ceil_div(a, b), 0);
  rely_on(a);
  return floor_div(a, b);
}

}  // namespace kiln::sym
