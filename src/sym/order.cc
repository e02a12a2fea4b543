/// max, min, equal and less: decided by bounds where those suffice, else brought to one form.
#include <algorithm>
#include <numeric>

#include "sym/checked.h"
#include "sym/node.h"
#include "sym/table_impl.h"

namespace kiln::sym {
namespace {

/// a - b; nothing if a coefficient overflows.
std::optional<Polynomial> difference(Expr a, Expr b) { return subtract(polynomial_of(a), polynomial_of(b)); }

/// a - b or b - a: beside INT64_MIN only one of them may fit.
std::optional<Polynomial> either_difference(Expr a, Expr b) {
  auto gap = difference(a, b);
  return gap ? gap : difference(b, a);
}

/// Calls `use(fact, limits)` for facts about sums (n - i >= 1) from which limits of a polynomial follow that differs
/// from the sum, or from its negative, by a constant only.
template <class Use>
void for_each_sum_fact(const Polynomial& p, Table::Impl& impl, Use use) {
  for (LearnedFact& known : impl.facts) {
    const Node& node = *known.fact.e.node();
    if (node.is_atom || node.fact < 0) continue;
    const Polynomial sum = polynomial_of(known.fact.e);
    if (sum.terms.size() != p.terms.size()) continue;
    if (const auto rest = subtract(p, sum); rest && rest->is_constant())
      use(known, Limits{Int128{rest->constant} + known.fact.least, limits_of(p).max});
    const auto negated = scale(sum, -1);
    if (const auto rest = negated ? subtract(p, *negated) : std::nullopt; rest && rest->is_constant())
      use(known, Limits{limits_of(p).min, Int128{rest->constant} - known.fact.least});
  }
}

Sign sign_by_sum_facts(const Polynomial& p, Table::Impl& impl) {
  Limits limits = limits_of(p);
  for_each_sum_fact(p, impl, [&](const LearnedFact&, const Limits& by_fact) {
    limits.min = std::max(limits.min, by_fact.min), limits.max = std::min(limits.max, by_fact.max);
  });
  return sign_of(limits);
}

/// A decided comparison that does not follow from structure alone relies on bounds.
void rely_on_unless_constant(Expr a, Expr b) {
  const auto gap = difference(a, b);
  if (gap && gap->is_constant()) return;
  if (Table* table = common_table(a, b); gap && table)
    for_each_sum_fact(*gap, table->impl(), [](LearnedFact& known, const Limits&) { known.is_relied_on = true; });
  rely_on(a);
  rely_on(b);
}

/// The operands of a maximum of maxima (a minimum of minima). If they are too many to compare with each other in
/// reasonable time, just a and b.
std::vector<Expr> operands_of(Kind kind, Expr a, Expr b) {
  constexpr size_t kMost = 16;
  std::vector<Expr> result, pending{b, a};
  while (!pending.empty()) {
    const Expr e = pending.back();
    pending.pop_back();
    if (result.size() + pending.size() > kMost) return {a, b};
    if (e.kind() == kind)
      pending.insert(pending.end(), {e.rhs(), e.lhs()});
    else
      result.push_back(e);
  }
  return result;
}

/// Whether `x` adds nothing to max (min) once `kept` is an operand.
bool dominates(Kind kind, Expr kept, Expr x) {
  if (kept == x) return true;
  // max(a, min(a, b)) = a: any operand of the inner one below `kept` will do
  if (x.kind() == (kind == Kind::kMax ? Kind::kMin : Kind::kMax) &&
      (dominates(kind, kept, x.lhs()) || dominates(kind, kept, x.rhs())))
    return true;
  const Expr greater = kind == Kind::kMax ? kept : x, smaller = kind == Kind::kMax ? x : kept;
  if (compare_less(greater, smaller) != Truth::kNo) return false;
  rely_on_unless_constant(greater, smaller);
  return true;
}

Expr extremum(Kind kind, Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  if (!common_table(a, b)) return kind == Kind::kMax ? std::max(a.value(), b.value()) : std::min(a.value(), b.value());
  std::vector<Expr> kept;
  for (Expr x : operands_of(kind, a, b)) {
    if (std::any_of(kept.begin(), kept.end(), [&](Expr y) { return dominates(kind, y, x); })) continue;
    std::erase_if(kept, [&](Expr y) { return dominates(kind, x, y); });
    kept.push_back(x);
  }
  std::sort(kept.begin(), kept.end(), [](Expr x, Expr y) {  // a constant last, as people write it
    return x.is_const() != y.is_const() ? y.is_const() : compare(x, y) < 0;
  });
  Expr out = kept[0];
  for (size_t i = 1; i < kept.size(); ++i) out = intern(kind, out, kept[i]);
  return out;
}

/// The operation on the positive and on the negated negative part of a polynomial. A comparison of p with 0 becomes
/// one of the two, so that n = m has one form however it was written.
Expr compare_parts(Kind kind, const Polynomial& left, const Polynomial& right) {
  Polynomial l, r;
  for (const Term& term : left.terms)
    if (term.coefficient > 0) l.terms.push_back(term);
  for (const Term& term : right.terms)
    if (term.coefficient > 0) r.terms.push_back(term);
  if (left.constant > 0) l.constant = left.constant;
  if (right.constant > 0) r.constant = right.constant;
  return intern(kind, build(l), build(r));
}

bool is_never_zero(const Polynomial& p) {  // 2*n - 2*m + 1
  const int64_t step = content(p);
  return step > 1 && p.constant % step != 0;
}

/// Compares a polynomial with 0 whose only atom is a truth, 0 or 1. If the comparison holds for just one of the two,
/// the result is the atom, or 1 minus the atom. Nothing for other polynomials.
std::optional<Expr> by_truth(const Polynomial& p, bool holds_at_zero) {
  if (p.terms.size() != 1 || p.terms[0].atoms.size() != 1 || !p.terms[0].atoms[0]->is_truth) return std::nullopt;
  const Expr truth = wrap(p.terms[0].atoms[0]);
  return holds_at_zero ? 1 - truth : truth;
}

Sign sign_of_limits(Expr a, Expr b) {
  const Limits x = limits_of(a), y = limits_of(b);
  return sign_of(Limits{x.min - y.max, x.max - y.min});
}

/// The sign of a - b by the limits of both, where a sum has a fact of its own (Table::learn), which its terms don't
/// show.
Sign sign_by_limits(Expr a, Expr b) {
  const auto has_fact = [](Expr e) { return e.node() && !e.node()->is_atom && e.node()->fact >= 0; };
  return has_fact(a) || has_fact(b) ? sign_of_limits(a, b) : Sign::kUnknown;
}

}  // namespace

Expr max(Expr a, Expr b) { return extremum(Kind::kMax, a, b); }
Expr min(Expr a, Expr b) { return extremum(Kind::kMin, a, b); }

Truth compare_equal(Expr a, Expr b) {
  if (invalid_operand(a, b)) return Truth::kUnknown;
  common_table(a, b);
  if (a == b) return Truth::kYes;
  const auto gap = either_difference(a, b);
  const Sign apart = gap ? sign_by_limits(a, b) : sign_of_limits(a, b);
  if (apart == Sign::kPositive || apart == Sign::kNegative) return Truth::kNo;
  if (!gap) return Truth::kUnknown;
  const Sign sign = sign_of(*gap);
  if (sign == Sign::kZero) return Truth::kYes;
  if (sign == Sign::kPositive || sign == Sign::kNegative || is_never_zero(*gap)) return Truth::kNo;
  return Truth::kUnknown;
}

Truth compare_less(Expr a, Expr b) {
  if (invalid_operand(a, b)) return Truth::kUnknown;
  common_table(a, b);
  const auto decided = [](Sign sign) {
    if (sign == Sign::kNegative) return Truth::kYes;
    const bool no = sign == Sign::kPositive || sign == Sign::kZero || sign == Sign::kNotNegative;
    return no ? Truth::kNo : Truth::kUnknown;
  };
  const auto gap = difference(a, b);
  const Truth apart = decided(gap ? sign_by_limits(a, b) : sign_of_limits(a, b));
  if (apart != Truth::kUnknown || !gap) return apart;
  const Truth by_terms = decided(sign_of(*gap));
  Table* const table = common_table(a, b);
  return by_terms == Truth::kUnknown && table ? decided(sign_by_sum_facts(*gap, table->impl())) : by_terms;
}

Expr equal(Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  if (const Truth truth = compare_equal(a, b); truth != Truth::kUnknown) {
    rely_on_unless_constant(a, b);
    return truth == Truth::kYes ? 1 : 0;
  }
  auto gap = either_difference(a, b);
  if (!gap) return compare(a, b) <= 0 ? intern(Kind::kEqual, a, b) : intern(Kind::kEqual, b, a);
  if (const auto truth = by_truth(*gap, gap->constant == 0)) return *truth;
  // The content divides the constant too, or the two would differ. (Once is not enough for INT64_MIN.)
  for (int64_t step = content(*gap); step > 1; step = content(*gap)) {
    for (Term& term : gap->terms) term.coefficient /= step;
    gap->constant /= step;
  }
  if (gap->terms.front().coefficient < 0)
    if (const auto negated = scale(*gap, -1)) gap = negated;
  const auto negated = scale(*gap, -1);
  if (!negated) return intern(Kind::kEqual, a, b);
  return compare_parts(Kind::kEqual, *gap, *negated);
}

Expr less(Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  if (const Truth truth = compare_less(a, b); truth != Truth::kUnknown) {
    rely_on_unless_constant(a, b);
    return truth == Truth::kYes ? 1 : 0;
  }
  auto gap = difference(b, a);  // > 0
  if (!gap) return intern(Kind::kLess, a, b);
  if (const auto truth = by_truth(*gap, gap->constant > 0)) return *truth;
  // step*q + k > 0 means q > -k/step, and so q + ceil(k/step) > 0 for integers
  for (int64_t step = content(*gap); step > 1; step = content(*gap)) {
    for (Term& term : gap->terms) term.coefficient /= step;
    gap->constant = ceil_quotient(gap->constant, step);
  }
  const auto negated = scale(*gap, -1);
  if (!negated) return intern(Kind::kLess, a, b);
  return compare_parts(Kind::kLess, *negated, *gap);
}

Expr within(Expr index, Expr count) {
  if (const auto bad = invalid_operand(index, count)) return *bad;
  if (index.min() >= 0 && compare_less(index, count) == Truth::kYes) {
    rely_on_unless_constant(index, count);
    rely_on(index);
    return index;
  }
  return common_table(index, count) ? intern(Kind::kWithin, index, count) : invalid(Invalid::kOutside);
}

Expr element_at(std::span<const Expr> values, Expr index) {
  const Expr at = within(index, std::ssize(values));
  if (!at.is_valid()) return at;
  if (const auto known = at.constant()) return values[static_cast<size_t>(*known)];
  Expr sum = 0, least = values[0], greatest = values[0];
  for (size_t i = 0; i < values.size(); ++i) {
    sum += equal(at, i) * values[i];
    least = min(least, values[i]);
    greatest = max(greatest, values[i]);
  }
  return max(least, min(greatest, sum));  // the limits of the sum alone would be those of all its terms together
}

}  // namespace kiln::sym
