#include "sym/expr.h"

#include <algorithm>

#include "sym/checked.h"
#include "sym/node.h"
#include "sym/real.h"
#include "sym/table.h"

namespace kiln::sym {

Expr wrap(const Node* node) {
  Expr e;
  e.node_ = node;
  return e;
}

Expr invalid(int reason) {
  static const Node node;
  Expr e = wrap(&node);
  e.value_ = reason;
  return e;
}

std::string_view Expr::why_invalid() const {
  if (is_valid()) return {};
  switch (static_cast<Invalid>(value_)) {
    case Invalid::kOverflow: return "a constant overflows int64";
    case Invalid::kZeroDivisor: return "the divisor is zero";
    case Invalid::kNotANumber: return "a real is not a number";
    case Invalid::kOutside: return "an index is outside of what it counts";
  }
  return "unknown";
}

int64_t Expr::value() const {
  CHECK(is_const());
  return value_;
}
Kind Expr::kind() const { return node_ ? node_->kind : Kind::kConst; }
std::string_view Expr::name() const {
  CHECK(is_symbol());
  return node_->name;
}
int Expr::symbol_id() const {
  CHECK(is_symbol());
  return node_->symbol_id;
}
Expr Expr::lhs() const {
  CHECK(is_operation(kind()));
  return node_->lhs;
}
Expr Expr::rhs() const {
  CHECK(is_operation(kind()));
  return node_->rhs;
}
int64_t Expr::min() const { return is_valid() ? clamp_int64(limits_of(*this).min) : INT64_MIN; }
int64_t Expr::max() const { return is_valid() ? clamp_int64(limits_of(*this).max) : INT64_MAX; }
int64_t Expr::opt() const { return !node_ ? value_ : is_valid() ? refresh(*node_).opt : 0; }
Table* Expr::table() const { return node_ ? node_->table : nullptr; }

std::optional<Expr> invalid_operand(Expr a, Expr b) {
  if (!a.is_valid()) return a;
  if (!b.is_valid()) return b;
  return std::nullopt;
}

Table* common_table(Expr a, Expr b) {
  CHECK(!a.table() || !b.table() || a.table() == b.table());
  return a.table() ? a.table() : b.table();
}

int compare(Expr a, Expr b) {
  // Equal operands are the same node, so the first ones that differ decide.
  while (a != b) {
    if (a.kind() != b.kind()) return a.kind() < b.kind() ? -1 : 1;
    if (a.is_const()) return a.value() < b.value() ? -1 : 1;
    if (a.is_symbol()) return a.symbol_id() < b.symbol_id() ? -1 : 1;
    const bool left = a.lhs() != b.lhs();
    if (!left && a.rhs() == b.rhs()) return a.node()->is_atom ? -1 : 1;
    const Expr x = left ? a.lhs() : a.rhs(), y = left ? b.lhs() : b.rhs();
    a = x, b = y;
  }
  return 0;
}

namespace {

/// The term that a tree of factors is.
Term term_of(Expr e) {
  Term term{1, {}};
  for (; !e.node()->is_atom; e = e.lhs()) {
    term.atoms.push_back(e.rhs().node());
    if (!e.lhs().is_const()) continue;
    term.coefficient = e.lhs().value();
    break;
  }
  if (e.node()->is_atom) term.atoms.push_back(e.node());
  std::reverse(term.atoms.begin(), term.atoms.end());
  return term;
}

}  // namespace

Polynomial polynomial_of(Expr e) {
  Polynomial out;
  const auto put = [&](Expr part, int64_t sign) {
    if (part.is_const()) {
      out.constant = sign * part.value();
      return;
    }
    out.terms.push_back(term_of(part));
    out.terms.back().coefficient *= sign;
  };
  const auto is_sum = [](Expr x) { return !x.is_const() && !x.node()->is_atom && x.kind() != Kind::kProd; };
  for (; is_sum(e); e = e.lhs()) put(e.rhs(), e.kind() == Kind::kSum ? 1 : -1);
  put(e, 1);
  sort(out.terms);
  return out;
}

namespace {

/// coefficient * atoms, as a tree
Expr build_term(int64_t coefficient, const std::vector<const Node*>& atoms) {
  Expr out = coefficient == 1 ? wrap(atoms[0]) : intern(Kind::kProd, coefficient, wrap(atoms[0]), false);
  for (size_t i = 1; i < atoms.size() && out.is_valid(); ++i) out = intern(Kind::kProd, out, wrap(atoms[i]), false);
  return out;
}

/// Appends `sign` and a part to a tree whose first part may be missing.
void attach(std::optional<Expr>& sum, Kind sign, Expr part) {
  if (!sum)
    sum = part;
  else if (const auto bad = invalid_operand(*sum, part))
    sum = bad;
  else
    sum = intern(sign, *sum, part, false);
}

}  // namespace

Expr build(const Polynomial& p) {
  if (p.is_constant()) return p.constant;
  for (size_t i = 0; i < p.terms.size(); ++i)
    if (const auto told = with_equalities(p.terms[i])) {
      Polynomial others = p;
      others.terms.erase(others.terms.begin() + static_cast<std::ptrdiff_t>(i));
      return build(others) + *told;
    }
  // Terms that can be subtracted come after those that are added, so that "b - a" needs no "-1*a". INT64_MIN has no
  // negation and is added.
  const auto is_subtracted = [](int64_t coefficient) { return coefficient < 0 && coefficient != INT64_MIN; };
  std::optional<Expr> sum;
  for (const Term& term : p.terms)
    if (!is_subtracted(term.coefficient)) attach(sum, Kind::kSum, build_term(term.coefficient, term.atoms));
  const bool constant_first = !sum && p.constant > 0;
  if (constant_first) sum = p.constant;
  for (const Term& term : p.terms)
    if (is_subtracted(term.coefficient))
      attach(sum, Kind::kSub, build_term(sum ? -term.coefficient : term.coefficient, term.atoms));
  if (p.constant != 0 && !constant_first) {
    if (is_subtracted(p.constant))
      attach(sum, Kind::kSub, -p.constant);
    else
      attach(sum, Kind::kSum, p.constant);
  }
  return *sum;
}

Expr build(const std::optional<Polynomial>& p) { return p ? build(*p) : invalid(Invalid::kOverflow); }

namespace {

constexpr size_t kMostTerms = 64;     // of a product of sums: one that expands to more stays one atom
constexpr size_t kMostWeight = 1024;  // of a sum or product: one that would be heavier stays one atom

/// a and b in the order that a commutative operation has them in.
std::pair<Expr, Expr> ordered(Expr a, Expr b) { return compare(a, b) <= 0 ? std::pair(a, b) : std::pair(b, a); }

bool is_heavy(const Polynomial& p, const Polynomial& q) { return p.weight() + q.weight() > kMostWeight; }

bool expands_too_far(const Polynomial& p, const Polynomial& q) {
  const size_t terms = p.num_terms() * q.num_terms();
  if (p.num_terms() > 1 && q.num_terms() > 1 && terms > kMostTerms) return true;
  return terms * (1 + p.degree() + q.degree()) > kMostWeight;
}

}  // namespace

Expr operator+(Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  if (!common_table(a, b)) return build(add({{}, a.value()}, {{}, b.value()}));
  if (a == Expr(0)) return b;
  if (b == Expr(0)) return a;
  const Polynomial p = polynomial_of(a), q = polynomial_of(b);
  if (is_heavy(p, q)) return intern(Kind::kSum, ordered(a, b).first, ordered(a, b).second);
  return build(add(p, q));
}

Expr operator-(Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  if (!common_table(a, b)) return build(subtract({{}, a.value()}, {{}, b.value()}));
  if (b == Expr(0)) return a;
  if (a == b) return 0;
  const Polynomial p = polynomial_of(a), q = polynomial_of(b);
  return is_heavy(p, q) ? intern(Kind::kSub, a, b) : build(subtract(p, q));
}

Expr operator*(Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  if (!common_table(a, b)) return build(multiply({{}, a.value()}, {{}, b.value()}));
  if (a == Expr(1) || b == Expr(0)) return b;
  if (b == Expr(1) || a == Expr(0)) return a;
  const Polynomial p = polynomial_of(a), q = polynomial_of(b);
  if (expands_too_far(p, q)) return intern(Kind::kProd, ordered(a, b).first, ordered(a, b).second);
  return build(multiply(p, q));
}

Expr apply(Kind operation, Expr a, Expr b) {
  switch (operation) {
    case Kind::kSum: return a + b;
    case Kind::kSub: return a - b;
    case Kind::kProd: return a * b;
    case Kind::kMax: return max(a, b);
    case Kind::kMin: return min(a, b);
    case Kind::kEqual: return equal(a, b);
    case Kind::kLess: return less(a, b);
    case Kind::kFloorDiv: return floor_div(a, b);
    case Kind::kCeilDiv: return ceil_div(a, b);
    case Kind::kWithin: return within(a, b);
    default: return apply_real(operation, a, b);
  }
}

Expr product(std::span<const Expr> factors) {
  Expr out = 1;
  for (Expr factor : factors) out *= factor;
  return out;
}

}  // namespace kiln::sym
