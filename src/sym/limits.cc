/// Interval arithmetic: what the bounds of symbols imply for expressions over them.
#include <algorithm>

#include "sym/checked.h"
#include "sym/node.h"
#include "sym/table_impl.h"

namespace kiln::sym {
namespace {

__extension__ typedef __int128 Int128;
constexpr Int128 kHuge = Int128{1} << 115;  // sums of kMaxSize of these still fit

Int128 clamp_huge(Int128 x) { return std::clamp(x, -kHuge, kHuge); }
int64_t clamp_int64(Int128 x) { return static_cast<int64_t>(std::clamp<Int128>(x, INT64_MIN, INT64_MAX)); }

Int128 product(Int128 a, Int128 b) {
  Int128 out;
  if (__builtin_mul_overflow(a, b, &out)) return (a < 0) == (b < 0) ? kHuge : -kHuge;
  return clamp_huge(out);
}

WideLimits product(const WideLimits& a, const WideLimits& b) {
  const Int128 corners[] = {product(a.min, b.min), product(a.min, b.max), product(a.max, b.min), product(a.max, b.max)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

/// Of x^exponent. A plain product would not know that both factors are one.
WideLimits power(const WideLimits& x, size_t exponent) {
  WideLimits out{1, 1};
  for (size_t i = 0; i < exponent; ++i) out = {product(out.min, x.min), product(out.max, x.max)};
  if (exponent % 2 != 0) return out;
  if (x.min <= 0 && x.max >= 0) return {0, std::max(out.min, out.max)};
  return {std::min(out.min, out.max), std::max(out.min, out.max)};
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
  if (node.kind == Kind::kSymbol) return {node.bounds.min, node.bounds.max, node.bounds.opt};
  const Expr a = node.lhs, b = node.rhs;
  Limits out{INT64_MIN, INT64_MAX, optimum(node.kind, a, b)};
  switch (node.kind) {
    case Kind::kMax: out.min = std::max(a.min(), b.min()), out.max = std::max(a.max(), b.max()); break;
    case Kind::kMin: out.min = std::min(a.min(), b.min()), out.max = std::min(a.max(), b.max()); break;
    case Kind::kEqual:
    case Kind::kLess: out.min = 0, out.max = 1; break;
    case Kind::kFloorDiv:
    case Kind::kCeilDiv:
      if (const auto q = quotient_limits(node.kind, a, b)) out.min = q->min, out.max = q->max;
      break;
    default: {
      const WideLimits wide = node.is_atom ? product(WideLimits{a.min(), a.max()}, WideLimits{b.min(), b.max()})
                                           : limits_of(polynomial_of(wrap(&node)));
      out.min = clamp_int64(wide.min), out.max = clamp_int64(wide.max);
    }
  }
  return out;
}

}  // namespace

const Limits& limits_of(const Node& node) {
  const uint64_t version = node.table->impl().bounds_version;
  if (node.limits_version != version) {
    node.limits = compute_limits(node);
    node.limits_version = version;
  }
  return node.limits;
}

WideLimits limits_of(const Polynomial& p) {
  WideLimits sum{p.constant, p.constant};
  for (const Term& term : p.terms) {
    WideLimits value{term.coefficient, term.coefficient};
    for (size_t i = 0; i < term.atoms.size();) {
      size_t end = i;
      while (end < term.atoms.size() && term.atoms[end] == term.atoms[i]) ++end;
      const Limits& atom = limits_of(*term.atoms[i]);
      value = product(value, power({atom.min, atom.max}, end - i));
      i = end;
    }
    sum = {sum.min + value.min, sum.max + value.max};
  }
  return sum;
}

std::optional<Limits> quotient_limits(Kind kind, Expr a, Expr b) {
  const auto quotient = [kind](int64_t x, int64_t y) {
    if (y == -1 && x == INT64_MIN) return INT64_MAX;
    return kind == Kind::kFloorDiv ? floor_quotient(x, y) : ceil_quotient(x, y);
  };
  Limits out{INT64_MAX, INT64_MIN, 0};
  // A quotient is monotone in both operands on each side of a divisor of zero, so its extremes are at corners.
  const auto widen = [&](int64_t least, int64_t greatest) {
    if (least > greatest) return;
    for (int64_t x : {a.min(), a.max()})
      for (int64_t y : {least, greatest}) {
        out.min = std::min(out.min, quotient(x, y));
        out.max = std::max(out.max, quotient(x, y));
      }
  };
  widen(std::max<int64_t>(b.min(), 1), b.max());
  widen(b.min(), std::min<int64_t>(b.max(), -1));
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
  const WideLimits limits = limits_of(p);
  if (limits.min > 0) return Sign::kPositive;
  if (limits.max < 0) return Sign::kNegative;
  if (limits.min == 0) return limits.max == 0 ? Sign::kZero : Sign::kNotNegative;
  return limits.max == 0 ? Sign::kNotPositive : Sign::kUnknown;
}

}  // namespace kiln::sym
