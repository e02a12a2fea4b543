/// Interval arithmetic: what the bounds of symbols imply for expressions over them.
#include <algorithm>

#include "sym/checked.h"
#include "sym/node.h"
#include "sym/table_impl.h"

namespace kiln::sym {
namespace {

/// A min at or below -kHuge, and a max at or above it, stand for no limit; sums of kMaxSize of these still fit.
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

/// Of x^exponent. A plain product would not know that both factors are one.
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

Limits compute_limits(const Node& node) {
  if (node.kind == Kind::kSymbol) return {node.bounds.min, node.bounds.max};
  if (!node.is_atom) return limits_of(polynomial_of(wrap(&node)));
  const Limits a = limits_of(node.lhs), b = limits_of(node.rhs);
  switch (node.kind) {
    case Kind::kMax: return {std::max(a.min, b.min), std::max(a.max, b.max)};
    case Kind::kMin: return {std::min(a.min, b.min), std::min(a.max, b.max)};
    case Kind::kEqual:
    case Kind::kLess: return {0, 1};
    case Kind::kFloorDiv:
    case Kind::kCeilDiv: return quotient_limits(node.kind, a, b).value_or(Limits{-kHuge, kHuge});
    default: return product(a, b);  // one that was too large to expand
  }
}

}  // namespace

const Node& refresh(const Node& node) {
  const uint64_t version = node.table->impl().bounds_version;
  if (node.limits_version == version) return node;
  node.limits = compute_limits(node);
  node.opt = node.kind == Kind::kSymbol ? node.bounds.opt : optimum(node.kind, node.lhs, node.rhs);
  node.limits_version = version;
  return node;
}

Limits limits_of(Expr e) {
  if (e.is_const()) return {e.value(), e.value()};
  return refresh(*e.node()).limits;
}

Limits limits_of(const Polynomial& p) {
  const Limits direct = sum_limits(p, [](const Node& atom) { return refresh(atom).limits; });
  if (!repeats_an_atom(p)) return direct;
  const auto above = above_minima(p);
  if (!above) return direct;
  const Limits other = sum_limits(*above, [](const Node& atom) {
    const Limits& value = refresh(atom).limits;
    return Limits{0, value.max < kHuge ? value.max - value.min : kHuge};
  });
  return {std::max(direct.min, other.min), std::min(direct.max, other.max)};
}

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
  const Node& node = *e.node();
  Table::Impl& impl = node.table->impl();
  if (node.relied_version == impl.bounds_version) return;
  node.relied_version = impl.bounds_version;
  if (node.kind == Kind::kSymbol) {
    impl.relied[node.symbol_id] = node.bounds;
    return;
  }
  rely_on(node.lhs);
  rely_on(node.rhs);
}

void rely_on(const Polynomial& p) {
  for (const Term& term : p.terms)
    for (const Node* atom : term.atoms) rely_on(wrap(atom));
}

Sign sign_of(const Polynomial& p) {
  const Limits limits = limits_of(p);
  if (limits.min > 0) return Sign::kPositive;
  if (limits.max < 0) return Sign::kNegative;
  if (limits.min == 0) return limits.max == 0 ? Sign::kZero : Sign::kNotNegative;
  return limits.max == 0 ? Sign::kNotPositive : Sign::kUnknown;
}

}  // namespace kiln::sym
