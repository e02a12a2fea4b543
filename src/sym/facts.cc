#include "sym/facts.h"

#include <optional>
#include <utility>

#include "sym/assumption.h"
#include "sym/checked.h"
#include "sym/node.h"
#include "sym/table_impl.h"

namespace kiln::sym {
namespace {

/// Records e >= least of one node, if that is news and possible.
void learn_node(Table::Impl& impl, Expr e, int64_t least, std::string_view reason) {
  const Node& node = *e.node();
  const Limits limits = limits_of(e);
  if (node.is_truth || limits.min >= least || limits.max < least) return;
  if (node.fact < 0) {
    node.fact = static_cast<int>(impl.facts.size());
    impl.facts.push_back({{e, least, std::string(reason)}});
  } else {
    LearnedFact& known = impl.facts[static_cast<size_t>(node.fact)];
    known = {{e, least, std::string(reason)}, known.is_relied_on};
  }
  ++impl.bounds_version;
}

/// A simpler expression, and its least value, if `e` is at least `least`: the only term of a sum, the dividend of a
/// quotient.
std::optional<std::pair<Expr, int64_t>> implied(Expr e, int64_t least) {
  const auto fits = [](Int128 x) { return x == clamp_int64(x); };
  if (e.kind() == Kind::kFloorDiv && e.rhs().is_const() && e.rhs().value() > 0) {
    const Int128 bound = Int128{least} * e.rhs().value();
    return fits(bound) ? std::optional(std::pair(e.lhs(), clamp_int64(bound))) : std::nullopt;
  }
  if (e.node()->is_atom) return std::nullopt;
  const Polynomial p = polynomial_of(e);
  if (p.terms.size() != 1 || p.terms[0].atoms.size() != 1 || p.terms[0].coefficient < 1) return std::nullopt;
  const Int128 rest = Int128{least} - p.constant;
  if (!fits(rest)) return std::nullopt;
  return std::pair(wrap(p.terms[0].atoms[0]), ceil_quotient(clamp_int64(rest), p.terms[0].coefficient));
}

}  // namespace

void learn(Expr e, int64_t least, std::string_view reason) {
  for (std::optional next(std::pair(e, least)); next && next->first.is_valid() && !next->first.is_const();
       next = implied(next->first, next->second)) {
    learn_node(next->first.table()->impl(), next->first, next->second, reason);
  }
}

void learn(const Assumption& assumption) {
  if (assumption.relation != Relation::kLessEqual) return;
  if (const auto least = assumption.lhs.constant())
    learn(assumption.rhs, *least, assumption.reason);
  else
    learn(assumption.rhs - assumption.lhs, 0, assumption.reason);
}

std::vector<Fact> known_facts(Table& table) {
  std::vector<Fact> result;
  for (const LearnedFact& known : table.impl().facts) result.push_back(known.fact);
  return result;
}

std::vector<Fact> forget_facts(Table& table) {
  Table::Impl& impl = table.impl();
  std::vector<LearnedFact> kept;
  std::vector<Fact> result;
  for (LearnedFact& known : impl.facts) {
    known.fact.e.node()->fact = known.is_relied_on ? static_cast<int>(kept.size()) : -1;
    if (!known.is_relied_on) continue;
    result.push_back(known.fact);
    kept.push_back(std::move(known));
  }
  impl.facts = std::move(kept);
  ++impl.bounds_version;
  return result;
}

}  // namespace kiln::sym
