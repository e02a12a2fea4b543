/// max, min, equal and less: decided by bounds where those suffice, else brought to one form.
#include <algorithm>
#include <numeric>

#include "sym/checked.h"
#include "sym/node.h"

namespace kiln::sym {
namespace {

/// a - b; nothing if a coefficient overflows.
std::optional<Polynomial> difference(Expr a, Expr b) { return subtract(polynomial_of(a), polynomial_of(b)); }

/// a - b or b - a: beside INT64_MIN only one of them may fit.
std::optional<Polynomial> either_difference(Expr a, Expr b) {
  auto gap = difference(a, b);
  return gap ? gap : difference(b, a);
}

/// A decided comparison that does not follow from structure alone relies on bounds.
void rely_on_unless_constant(Expr a, Expr b) {
  if (const auto gap = difference(a, b); gap && gap->is_constant()) return;
  rely_on(a);
  rely_on(b);
}

void flatten(Kind kind, Expr e, std::vector<Expr>& out) {
  if (e.kind() != kind) return out.push_back(e);
  flatten(kind, e.lhs(), out);
  flatten(kind, e.rhs(), out);
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
  std::vector<Expr> operands, kept;
  flatten(kind, a, operands);
  flatten(kind, b, operands);
  for (Expr x : operands) {
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

}  // namespace

Expr max(Expr a, Expr b) { return extremum(Kind::kMax, a, b); }
Expr min(Expr a, Expr b) { return extremum(Kind::kMin, a, b); }

Truth compare_equal(Expr a, Expr b) {
  if (invalid_operand(a, b)) return Truth::kUnknown;
  common_table(a, b);
  if (a == b) return Truth::kYes;
  const auto gap = either_difference(a, b);
  if (!gap) {
    const Limits x = limits_of(a), y = limits_of(b);
    return x.max < y.min || y.max < x.min ? Truth::kNo : Truth::kUnknown;
  }
  const Sign sign = sign_of(*gap);
  if (sign == Sign::kZero) return Truth::kYes;
  if (sign == Sign::kPositive || sign == Sign::kNegative || is_never_zero(*gap)) return Truth::kNo;
  return Truth::kUnknown;
}

Truth compare_less(Expr a, Expr b) {
  if (invalid_operand(a, b)) return Truth::kUnknown;
  common_table(a, b);
  const auto gap = difference(a, b);
  if (!gap) {
    const Limits x = limits_of(a), y = limits_of(b);
    return x.max < y.min ? Truth::kYes : x.min >= y.max ? Truth::kNo : Truth::kUnknown;
  }
  const Sign sign = sign_of(*gap);
  if (sign == Sign::kNegative) return Truth::kYes;
  if (sign == Sign::kPositive || sign == Sign::kZero || sign == Sign::kNotNegative) return Truth::kNo;
  return Truth::kUnknown;
}

Expr equal(Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  if (const Truth truth = compare_equal(a, b); truth != Truth::kUnknown) {
    rely_on_unless_constant(a, b);
    return truth == Truth::kYes ? 1 : 0;
  }
  auto gap = either_difference(a, b);
  if (!gap) return compare(a, b) <= 0 ? intern(Kind::kEqual, a, b) : intern(Kind::kEqual, b, a);
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
  // step*q + k > 0 means q > -k/step, and so q + ceil(k/step) > 0 for integers
  for (int64_t step = content(*gap); step > 1; step = content(*gap)) {
    for (Term& term : gap->terms) term.coefficient /= step;
    gap->constant = ceil_quotient(gap->constant, step);
  }
  const auto negated = scale(*gap, -1);
  if (!negated) return intern(Kind::kLess, a, b);
  return compare_parts(Kind::kLess, *negated, *gap);
}

}  // namespace kiln::sym
