#include "sym/expr.h"

#include <algorithm>

#include "sym/checked.h"
#include "sym/node.h"
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
    case Invalid::kTooLarge: return "the expression is too large";
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
  CHECK(kind() >= Kind::kSum && kind() < Kind::kInvalid);
  return node_->lhs;
}
Expr Expr::rhs() const {
  CHECK(kind() >= Kind::kSum && kind() < Kind::kInvalid);
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
  if (a == b) return 0;
  if (a.kind() != b.kind()) return a.kind() < b.kind() ? -1 : 1;
  if (a.is_const()) return a.value() < b.value() ? -1 : 1;
  if (a.is_symbol()) return a.symbol_id() < b.symbol_id() ? -1 : 1;
  const int left = compare(a.lhs(), b.lhs());
  return left ? left : compare(a.rhs(), b.rhs());
}

Polynomial polynomial_of(Expr e) {
  if (e.is_const()) return {{}, e.value()};
  if (e.node()->is_atom) return {{Term{1, {e.node()}}}, 0};
  const Polynomial a = polynomial_of(e.lhs()), b = polynomial_of(e.rhs());
  const auto out = e.kind() == Kind::kSum ? add(a, b) : e.kind() == Kind::kSub ? subtract(a, b) : multiply(a, b);
  CHECK(out);  // it was built from one
  return *out;
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

Expr operator+(Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  if (!common_table(a, b)) return build(add({{}, a.value()}, {{}, b.value()}));
  if (a == Expr(0)) return b;
  if (b == Expr(0)) return a;
  return build(add(polynomial_of(a), polynomial_of(b)));
}

Expr operator-(Expr a, Expr b) {
  if (const auto bad = invalid_operand(a, b)) return *bad;
  if (!common_table(a, b)) return build(subtract({{}, a.value()}, {{}, b.value()}));
  if (b == Expr(0)) return a;
  return build(subtract(polynomial_of(a), polynomial_of(b)));
}

Expr operator*(Expr a, Expr b) {
  constexpr size_t kMostTerms = 64;  // a product that expands to more stays one atom
  if (const auto bad = invalid_operand(a, b)) return *bad;
  if (!common_table(a, b)) return build(multiply({{}, a.value()}, {{}, b.value()}));
  if (a == Expr(1)) return b;
  if (b == Expr(1)) return a;
  const Polynomial p = polynomial_of(a), q = polynomial_of(b);
  if (p.num_terms() > 1 && q.num_terms() > 1 && p.num_terms() * q.num_terms() > kMostTerms)
    return compare(a, b) <= 0 ? intern(Kind::kProd, a, b) : intern(Kind::kProd, b, a);
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
    default: break;
  }
  CHECK(operation == Kind::kSum);  // none of the nine
  return {};
}

Expr product(std::span<const Expr> factors) {
  Expr out = 1;
  for (Expr factor : factors) out *= factor;
  return out;
}

}  // namespace kiln::sym
