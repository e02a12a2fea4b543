/// Interval arithmetic: what the bounds of symbols imply for expressions over them.
#include <algorithm>

#include "sym/checked.h"
#include "sym/node.h"
#include "sym/table_impl.h"

namespace kiln::sym {
namespace {

/// A min at or below -kHuge, and a max at or above it, stand for no limit; sums of millions of these still fit.
constexpr Int128 kHuge = Int128{1} << 100;

Int128 clamp_huge(Int128 x) { return std::clamp(x, -kHuge, kHuge); }

Int128 product(Int128 a, Int128 b) {
  Int128 out;
  if (__builtin_mul_overflow(a, b, &out)) return (a < 0) == (b < 0) ? kHuge : -kHuge;
  return clamp_huge(out);
}

Limits product(const Limits& a, const Limits& b) {
  const Int128 corners[] = {product(a.min, b.min), product(a.min, b.max), product(a.max, b.min), product(a.max, b.max)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

/// Limits of x^exponent. A plain product would not know that both factors are one.
Limits power(const Limits& x, size_t exponent) {
  Limits out{1, 1};
  for (size_t i = 0; i < exponent; ++i) out = {product(out.min, x.min), product(out.max, x.max)};
  if (exponent % 2 != 0) return out;
  if (x.min <= 0 && x.max >= 0) return {0, std::max(out.min, out.max)};
  return {std::min(out.min, out.max), std::max(out.min, out.max)};
}

/// The sum of every term's own limits, with those of an atom given by `limits_of_atom`.
template <class F>
Limits sum_limits(const Polynomial& p, F limits_of_atom) {
  Limits sum{p.constant, p.constant};
  bool has_min = true, has_max = true;
  for (const Term& term : p.terms) {
    Limits value{term.coefficient, term.coefficient};
    for (size_t i = 0; i < term.atoms.size();) {
      size_t end = i;
      while (end < term.atoms.size() && term.atoms[end] == term.atoms[i]) ++end;
      value = product(value, power(limits_of_atom(*term.atoms[i]), end - i));
      i = end;
    }
    has_min = has_min && value.min > -kHuge;
    has_max = has_max && value.max < kHuge;
    sum = {sum.min + value.min, sum.max + value.max};
  }
  return {has_min ? sum.min : -kHuge, has_max ? sum.max : kHuge};
}

/// Whether terms depend on each other, so that the sum of their limits is loose.
bool repeats_an_atom(const Polynomial& p) {
  for (size_t i = 0; i < p.terms.size(); ++i)
    for (size_t k = i + 1; k < p.terms.size(); ++k)
      for (const Node* atom : p.terms[k].atoms)
        if (std::find(p.terms[i].atoms.begin(), p.terms[i].atoms.end(), atom) != p.terms[i].atoms.end()) return true;
  return false;
}

/// p with every atom x replaced by (least x) + x'; the result's atoms stand for the x'. n*h - h for n, h >= 1 becomes
/// n'*h' + n', which is not negative term by term. Nothing if that is large.
std::optional<Polynomial> above_minima(const Polynomial& p) {
  constexpr size_t kMostTerms = 16, kMostFactors = 4;
  if (p.terms.size() > kMostTerms) return std::nullopt;
  Polynomial sum{{}, p.constant};
  for (const Term& term : p.terms) {
    if (term.atoms.size() > kMostFactors) return std::nullopt;
    Polynomial value{{}, term.coefficient};
    for (const Node* atom : term.atoms) {
      const Int128 least = refresh(*atom).limits.min;
      if (least != clamp_int64(least)) return std::nullopt;
      auto next = multiply(value, {{Term{1, {atom}}}, static_cast<int64_t>(least)});
      if (!next) return std::nullopt;
      value = *std::move(next);
    }
    auto next = add(sum, value);
    if (!next) return std::nullopt;
    sum = *std::move(next);
  }
  return sum;
}

int64_t optimum(Kind kind, Expr lhs, Expr rhs) {
  const int64_t a = lhs.opt(), b = rhs.opt();
  int64_t out = 0;
  if (compute(kind, a, b, out) != Fault::kOverflow) return out;
  switch (kind) {
    case Kind::kSum: return clamp_int64(Int128{a} + b);
    case Kind::kSub: return clamp_int64(Int128{a} - b);
    case Kind::kProd: return clamp_int64(Int128{a} * b);
    default: return INT64_MAX;  // INT64_MIN / -1
  }
}

Limits computed_limits(const Node& node) {
  if (node.kind == Kind::kSymbol) return {node.bounds.min, node.bounds.max};
  if (!node.is_atom) return limits_of(polynomial_of(wrap(&node)));
  const Limits a = limits_of(node.lhs), b = limits_of(node.rhs);
  if (is_real_operation(node.kind)) return real_limits(node.kind, a, b);
  switch (node.kind) {
    case Kind::kMax: return {std::max(a.min, b.min), std::max(a.max, b.max)};
    case Kind::kMin: return {std::min(a.min, b.min), std::min(a.max, b.max)};
    case Kind::kEqual:
    case Kind::kLess: return {0, 1};
    case Kind::kFloorDiv:
    case Kind::kCeilDiv: return quotient_limits(node.kind, a, b).value_or(Limits{-kHuge, kHuge});
    case Kind::kWithin: {
      const Limits inside{std::max<Int128>(a.min, 0), std::min<Int128>(a.max, b.max - 1)};
      return inside.min <= inside.max ? inside : Limits{0, std::max<Int128>(b.max - 1, 0)};
    }
    // Sums and products that were too large to expand.
    case Kind::kSum: return {clamp_huge(a.min + b.min), clamp_huge(a.max + b.max)};
    case Kind::kSub: return {clamp_huge(a.min - b.max), clamp_huge(a.max - b.min)};
    default: return product(a, b);
  }
}

bool is_stale(const Node& node) { return node.limits_version != node.table->impl().bounds_version; }

void update(const Node& node) {
  const Table::Impl& impl = node.table->impl();
  node.limits = computed_limits(node);
  if (node.fact >= 0) {
    const Int128 least = impl.facts[static_cast<size_t>(node.fact)].fact.least;
    if (least <= node.limits.max) node.limits.min = std::max(node.limits.min, least);
  }
  node.opt = node.kind == Kind::kSymbol ? node.bounds.opt : optimum(node.kind, node.lhs, node.rhs);
  node.limits_version = impl.bounds_version;
}

/// The limits of a sum where terms depend on each other, by looking at what each of a few comparisons among its atoms
/// may be: n - equal(n, 1) + equal(n, 1) * m is m or, where n > 1, n.
class Cases {
 public:
  explicit Cases(const Polynomial& p) : p_(p) {
    for (const Term& term : p.terms)
      for (const Node* atom : term.atoms)
        if (atom->is_truth && truths_.size() < kMost && std::ranges::find(truths_, atom) == truths_.end())
          truths_.push_back(atom);
  }
  bool none() const { return truths_.empty(); }

  Limits limits() {
    Limits all{kHuge, -kHuge};
    for (unsigned outcome = 0; outcome < 1U << truths_.size(); ++outcome) {
      known_.clear();
      for (size_t i = 0; i < truths_.size(); ++i) assume(*truths_[i], outcome >> i & 1);
      const Limits one = sum_limits(p_, [&](const Node& atom) { return limits_of_atom(atom); });
      all = {std::min(all.min, one.min), std::max(all.max, one.max)};
    }
    return all;
  }

 private:
  static constexpr size_t kMost = 3;

  void assume(const Node& truth, bool holds) {
    known_.emplace_back(&truth, Limits{holds, holds});
    const auto equality = equality_of(truth);
    if (!equality) return;
    const Limits limits = refresh(*equality->is).limits, value = sym::limits_of(equality->value);
    const Limits both{std::max(limits.min, value.min), std::min(limits.max, value.max)};
    if (holds && both.min <= both.max)
      known_.emplace_back(equality->is, both);
    else if (!holds && equality->value.is_const() && limits.min == value.min && limits.min < limits.max)
      known_.emplace_back(equality->is, Limits{limits.min + 1, limits.max});
  }
  Limits limits_of_atom(const Node& atom) const {
    Limits result = refresh(atom).limits;
    for (const auto& [node, limits] : known_)
      if (node == &atom) result = {std::max(result.min, limits.min), std::min(result.max, limits.max)};
    return result.min <= result.max ? result : refresh(atom).limits;
  }

  const Polynomial& p_;
  std::vector<const Node*> truths_;
  std::vector<std::pair<const Node*, Limits>> known_;
};

constexpr int kDeepestQuotient = 2;  // quotients of one sum whose remainders are looked at
Limits limits_of(const Polynomial& p, int quotients);

/// The limits of p by way of x - (d-1) <= d * floor(x / d) <= x for one of its terms c * floor(x / d): so the remainder
/// x - d * floor(x / d) is known to be in [0, d). Nothing if there is no such term.
std::optional<Limits> by_remainder(const Polynomial& p, int quotients) {
  for (size_t i = 0; i < p.terms.size() && p.num_terms() > 1; ++i) {
    const Term& term = p.terms[i];
    if (term.atoms.size() != 1 || term.atoms[0]->kind != Kind::kFloorDiv) continue;
    const auto d = term.atoms[0]->rhs.constant();
    if (!d || *d < 2) continue;
    Polynomial others = p;
    others.terms.erase(others.terms.begin() + static_cast<std::ptrdiff_t>(i));
    // d * p = d * others + c * x - c * (the remainder, in [0, d - 1])
    const auto scaled = scale(others, *d);
    const auto dividend = scale(polynomial_of(term.atoms[0]->lhs), term.coefficient);
    const auto sum = scaled && dividend ? add(*scaled, *dividend) : std::nullopt;
    if (!sum) continue;
    Limits limits = limits_of(*sum, quotients + 1);
    const Int128 most = Int128{term.coefficient} * (*d - 1);
    if (limits.min > -kHuge) limits.min -= std::max<Int128>(most, 0);
    if (limits.max < kHuge) limits.max -= std::min<Int128>(most, 0);
    const Limits divisor{*d, *d};
    return Limits{
        limits.min > -kHuge ? quotient_limits(Kind::kCeilDiv, {limits.min, limits.min}, divisor)->min : -kHuge,
        limits.max < kHuge ? quotient_limits(Kind::kFloorDiv, {limits.max, limits.max}, divisor)->max : kHuge};
  }
  return std::nullopt;
}

Limits limits_of(const Polynomial& p, int quotients) {
  Limits result = sum_limits(p, [](const Node& atom) { return refresh(atom).limits; });
  const auto narrow = [&](const Limits& by) { result = {std::max(result.min, by.min), std::min(result.max, by.max)}; };
  if (repeats_an_atom(p))
    if (const auto above = above_minima(p))
      narrow(sum_limits(*above, [](const Node& atom) {
        const Limits& value = refresh(atom).limits;
        return Limits{0, value.max < kHuge ? value.max - value.min : kHuge};
      }));
  if (p.terms.size() > 1)
    if (Cases cases(p); !cases.none()) narrow(cases.limits());
  if (quotients < kDeepestQuotient)
    if (const auto limits = by_remainder(p, quotients)) narrow(*limits);
  return result;
}

}  // namespace

const Node& refresh(const Node& node) {
  if (!is_stale(node)) return node;
  if (node.size > kSmallTree)  // those below first: else the recursion could be deep
    for (const Node* below : operations_of(wrap(&node), is_stale))
      if (is_stale(*below)) update(*below);
  if (is_stale(node)) update(node);
  return node;
}

Limits limits_of(Expr e) {
  if (e.is_const()) return {e.value(), e.value()};
  return refresh(*e.node()).limits;
}

Limits limits_of(const Polynomial& p) { return limits_of(p, 0); }

std::optional<Limits> quotient_limits(Kind kind, const Limits& a, const Limits& b) {
  const auto quotient = [kind](Int128 x, Int128 y) -> Int128 {
    const bool is_exact = x % y == 0, is_negative = (x < 0) != (y < 0);
    return x / y + (is_exact ? 0 : kind == Kind::kFloorDiv ? -is_negative : !is_negative);
  };
  if (a.min <= -kHuge || a.max >= kHuge) return Limits{a.min >= 0 && b.min >= 1 ? 0 : -kHuge, kHuge};
  Limits out{kHuge, -kHuge};
  // A quotient is monotone in both operands on each side of a divisor of zero, so its extremes are at corners.
  const auto widen = [&](Int128 least, Int128 greatest) {
    if (least > greatest) return;
    for (Int128 x : {a.min, a.max})
      for (Int128 y : {least, greatest}) {
        out.min = std::min(out.min, quotient(x, y));
        out.max = std::max(out.max, quotient(x, y));
      }
  };
  widen(std::max<Int128>(b.min, 1), b.max);
  widen(b.min, std::min<Int128>(b.max, -1));
  if (out.min > out.max) return std::nullopt;
  return out;
}

void rely_on(Expr e) {
  if (!e.node() || !e.is_valid()) return;
  Table::Impl& impl = e.table()->impl();
  std::vector<const Node*> pending{e.node()};
  while (!pending.empty()) {
    const Node& node = *pending.back();
    pending.pop_back();
    if (node.relied_version == impl.bounds_version) continue;
    node.relied_version = impl.bounds_version;
    if (node.fact >= 0) impl.facts[static_cast<size_t>(node.fact)].is_relied_on = true;
    if (node.kind == Kind::kSymbol) {
      impl.relied[static_cast<size_t>(node.symbol_id)] = node.bounds;
      continue;
    }
    for (const Expr operand : {node.lhs, node.rhs})
      if (operand.node()) pending.push_back(operand.node());
  }
}

void rely_on(const Polynomial& p) {
  for (const Term& term : p.terms)
    for (const Node* atom : term.atoms) rely_on(wrap(atom));
}

Sign sign_of(const Limits& limits) {
  if (limits.min > 0) return Sign::kPositive;
  if (limits.max < 0) return Sign::kNegative;
  if (limits.min == 0) return limits.max == 0 ? Sign::kZero : Sign::kNotNegative;
  return limits.max == 0 ? Sign::kNotPositive : Sign::kUnknown;
}

Sign sign_of(const Polynomial& p) { return sign_of(limits_of(p)); }

}  // namespace kiln::sym
