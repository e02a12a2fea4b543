#include "builder/profile_guards.h"

#include <utility>

#include "sym/facts.h"

namespace kiln {
namespace {

std::vector<sym::Expr> targets_of(const Replacements& replacements) {
  std::vector<sym::Expr> result;
  for (const auto& [symbol, by] : replacements) result.push_back(by);
  return result;
}

/// Replaces each symbol of a table by the entry of `targets` at the symbol's id.
Replacements by_id(const sym::Table& table, std::span<const sym::Expr> targets) {
  Replacements result;
  CHECK(table.symbols().size() <= targets.size());  // inference makes no symbols of its own
  for (size_t id = 0; id < table.symbols().size(); ++id) result.emplace_back(table.symbols()[id], targets[id]);
  return result;
}

sym::Assumption substituted(const sym::Assumption& assumption, const Replacements& replacements) {
  return {assumption.relation, sym::substitute(assumption.lhs, replacements),
          sym::substitute(assumption.rhs, replacements), assumption.reason};
}

/// The assumption about a broadcast that inference would make under narrower bounds.
sym::Assumption sharpened(sym::Assumption x) {
  const bool lhs_may_be_one = !sym::provably_different(x.lhs, 1), rhs_may_be_one = !sym::provably_different(x.rhs, 1);
  if (x.relation == sym::Relation::kBroadcast && lhs_may_be_one != rhs_may_be_one) {
    x.relation = sym::Relation::kOneOr;
    if (rhs_may_be_one) std::swap(x.lhs, x.rhs);
  } else if ((x.relation == sym::Relation::kBroadcast && !rhs_may_be_one) ||
             (x.relation == sym::Relation::kOneOr && !lhs_may_be_one)) {
    x.relation = sym::Relation::kEqual;
  }
  return x;
}

}  // namespace

ProfileGuards::ProfileGuards(const ir::Graph& network, const ProfileBounds& bounds)
    : table_(std::make_unique<sym::Table>()) {
  const Replacements symbols = bounds.replacements(*network.shared_table(), *table_);
  symbols_ = targets_of(symbols);
  for (const sym::Assumption& assumption : network.assumptions()) checked_.push_back(substituted(assumption, symbols));
  num_of_network_ = checked_.size();
}

Status ProfileGuards::add(const ir::Graph& graph, const ProfileBounds& bounds) {
  sym::Table table;  // in which extents have the forms that they have in the graph
  const Replacements narrow = bounds.replacements(*table_, table);
  std::vector<sym::Assumption> known;
  for (const sym::Assumption& checked : checked_) sym::learn(known.emplace_back(substituted(checked, narrow)));
  for (size_t i = 0, count = known.size(); i < count; ++i) known.push_back(sharpened(known[i]));
  const Replacements to_here = by_id(*graph.shared_table(), targets_of(narrow)),
                     to_checked = by_id(*graph.shared_table(), symbols_);
  for (const sym::Assumption& belief : graph.beliefs()) {
    const size_t before = known.size();
    TRY(sym::assume(known, sharpened(substituted(belief, to_here))));
    if (known.size() == before) continue;
    sym::learn(known.back());
    checked_.push_back(substituted(belief, to_checked));
  }
  return {};
}

std::vector<sym::Guard> ProfileGuards::compile() const {
  std::vector<sym::Guard> result;
  for (size_t i = num_of_network_; i < checked_.size(); ++i) result.push_back(sym::Guard::compile(checked_[i]));
  return result;
}

}  // namespace kiln
