#include "builder/profile_bounds.h"

#include <algorithm>

namespace kiln {

ProfileBounds::ProfileBounds(const sym::Table& table, const std::vector<bool>& is_decided) : is_decided_(is_decided) {
  for (const sym::Expr& symbol : table.symbols()) {
    same_as_.push_back(bounds_.size());
    bounds_.push_back(table.bounds(symbol));
  }
  opt_set_.resize(bounds_.size());
}

Status ProfileBounds::narrow(const sym::Expr& symbol, int64_t min, int64_t opt, int64_t max, std::string_view where) {
  const auto id = static_cast<size_t>(symbol.symbol_id());
  sym::Bounds& b = bounds_[id];
  b.min = std::max(b.min, min);
  b.max = std::min(b.max, max);
  TRY(require(b.min <= b.max, where, ": no value of '", symbol.name(),
              "' is in every range that the profile gives it"));
  b.opt = std::clamp(opt_set_[id] ? b.opt : opt, b.min, b.max);
  opt_set_[id] = true;
  return {};
}

size_t ProfileBounds::root_of(size_t id) const {
  CHECK(id < same_as_.size());  // inference makes no symbols of its own
  while (same_as_[id] != id) id = same_as_[id];
  return id;
}

Result<bool> ProfileBounds::unite(const std::vector<sym::Assumption>& assumptions) {
  bool changed = false;
  for (const sym::Assumption& assumption : assumptions) {
    sym::Expr a = assumption.lhs, b = assumption.rhs;
    if (!a.is_symbol()) std::swap(a, b);
    if (assumption.relation != sym::Relation::kEqual || !a.is_symbol() || !(b.is_symbol() || b.is_const())) continue;
    const auto is_decided = [&](sym::Expr e) {
      return e.is_symbol() && is_decided_[static_cast<size_t>(e.symbol_id())];
    };
    if (is_decided(a) || is_decided(b)) continue;
    const size_t root = root_of(static_cast<size_t>(a.symbol_id()));
    if (b.is_const()) {
      TRY(narrow(a.table()->symbols()[root], b.value(), b.value(), b.value(), str(assumption)));
      changed = true;
      continue;
    }
    const size_t other = root_of(static_cast<size_t>(b.symbol_id()));
    if (root == other) continue;
    const auto [kept, gone] = std::minmax(root, other);
    const sym::Bounds& same = bounds_[gone];
    TRY(narrow(a.table()->symbols()[kept], same.min, same.opt, same.max, str(assumption)));
    same_as_[gone] = kept;
    changed = true;
  }
  return changed;
}

bool ProfileBounds::limit(const sym::Expr& symbol, const sym::Assumption& assumption) {
  const auto id = static_cast<size_t>(symbol.symbol_id());
  sym::Bounds& b = bounds_[id];
  const bool has_no_least = b.min == INT64_MIN, has_no_most = b.max == INT64_MAX;
  if (is_decided_[id] || root_of(id) != id || !(has_no_least || has_no_most)) return false;
  const auto at = [&](const sym::Expr& e, int64_t value) {
    const std::pair<sym::Expr, sym::Expr> values[] = {{symbol, value}};
    return sym::substitute(e, values);
  };
  // 0 <= factor * symbol + rest
  const sym::Expr difference = assumption.rhs - assumption.lhs, rest = at(difference, 0);
  const std::optional<int64_t> factor = (at(difference, 1) - rest).constant();
  if (!factor || *factor == 0 || !rest.is_valid() || difference != *factor * symbol + rest) return false;
  const int64_t most_rest = rest.max();
  if (most_rest == INT64_MAX || most_rest <= -INT64_MAX || *factor <= -INT64_MAX) return false;
  if (*factor < 0 && has_no_most) {
    const auto most = sym::floor_div(most_rest, -*factor).value();
    if (most < b.min) return false;  // nothing fits, which the assumption says when it is checked
    b.max = most;
    if (!opt_set_[id]) b.opt = most;
  } else if (*factor > 0 && has_no_least) {
    const auto least = sym::ceil_div(-most_rest, *factor).value();
    if (least > b.max) return false;
    b.min = least;
  } else {
    return false;
  }
  b.opt = std::clamp(b.opt, b.min, b.max);
  return true;
}

bool ProfileBounds::limit(const std::vector<sym::Assumption>& assumptions) {
  bool changed = false;
  for (const sym::Assumption& assumption : assumptions) {
    if (assumption.relation != sym::Relation::kLessEqual) continue;
    std::vector<sym::Expr> symbols;
    sym::collect_symbols(assumption.lhs, symbols), sym::collect_symbols(assumption.rhs, symbols);
    for (const sym::Expr& symbol : symbols) changed |= limit(symbol, assumption);
  }
  return changed;
}

Replacements ProfileBounds::replacements(const sym::Table& old_table, sym::Table& table) const {
  Replacements result;
  for (size_t id = 0; id < bounds_.size(); ++id) {
    const sym::Expr old_symbol = old_table.symbols()[id];
    const sym::Bounds& b = bounds_[root_of(id)];
    // A symbol that another one replaces has no range of its own to tune for.
    const sym::Expr symbol = table.symbol(old_symbol.name(), root_of(id) == id ? b : sym::Bounds{b.opt, b.opt, b.opt});
    CHECK(symbol.symbol_id() == static_cast<int>(id));
    result.emplace_back(old_symbol,
                        b.min == b.max && !is_decided_[id] ? sym::Expr(b.min) : table.symbols()[root_of(id)]);
  }
  return result;
}

namespace {

/// Other values for a symbol of a broken assumption, the likeliest first: that of the other side, then 1.
std::vector<int64_t> other_values(const std::vector<sym::Expr>& symbols, const sym::Assumption& assumption) {
  std::vector<int64_t> result;
  for (const sym::Expr& symbol : symbols) result.push_back(symbol.opt());
  std::ranges::sort(result, std::greater());
  for (const sym::Expr& side : {assumption.rhs, assumption.lhs})
    if (side.is_const()) result.push_back(side.value());
  result.push_back(1);
  return result;
}

class Optimum {
 public:
  Optimum(sym::Table& table, const std::vector<sym::Assumption>& assumptions) : table_(table) {
    for (const sym::Assumption& assumption : assumptions)
      if (assumption.relation == sym::Relation::kOneOr || assumption.relation == sym::Relation::kBroadcast)
        assumptions_.push_back(assumption);
  }
  void run() {
    for (size_t left = broken().size(); left > 0;) {
      if (!mend(left)) return;
      const size_t now = broken().size();
      CHECK(now < left);
      left = now;
    }
  }

 private:
  std::vector<sym::Assumption> broken() const {
    std::vector<sym::Assumption> result;
    for (const sym::Assumption& x : assumptions_)
      if (!sym::holds(x.relation, x.lhs.opt(), x.rhs.opt())) result.push_back(x);
    return result;
  }
  /// Gives one symbol another optimum, so that fewer than `most` assumptions are broken. Returns whether that worked.
  bool mend(size_t most) {
    for (const sym::Assumption& assumption : broken()) {
      std::vector<sym::Expr> symbols;
      sym::collect_symbols(assumption.lhs, symbols);
      sym::collect_symbols(assumption.rhs, symbols);
      for (const int64_t value : other_values(symbols, assumption))
        for (const sym::Expr& symbol : symbols)
          if (try_value(symbol, value, most)) return true;
    }
    return false;
  }
  bool try_value(sym::Expr symbol, int64_t value, size_t most) {
    const sym::Bounds before = table_.bounds(symbol);
    if (value < before.min || value > before.max || value == before.opt) return false;
    CHECK(table_.set_bounds(symbol, {before.min, value, before.max}));
    if (broken().size() < most) return true;
    CHECK(table_.set_bounds(symbol, before));
    return false;
  }

  sym::Table& table_;
  std::vector<sym::Assumption> assumptions_;
};

}  // namespace

void make_optimum_agree(sym::Table& table, const std::vector<sym::Assumption>& assumptions) {
  Optimum(table, assumptions).run();
}

}  // namespace kiln
