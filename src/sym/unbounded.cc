#include "sym/unbounded.h"

#include <algorithm>
#include <vector>

#include "sym/table.h"

namespace kiln::sym {
namespace {

constexpr std::string_view kName = "(unbounded)";  // no dimension of a network is called so

/// The largest value of an expression where a symbol is this number.
int64_t most_at(Expr e, Expr symbol, int64_t number) {
  const std::pair<Expr, Expr> at[] = {{symbol, Expr(number)}};
  return substitute(e, at).max();
}

}  // namespace

Expr unbounded(Table& table) { return table.symbol(kName, {0, kTypicalSize, kMostUnbounded}); }

bool reads_unbounded(Expr e) {
  std::vector<Expr> symbols;
  collect_symbols(e, symbols);
  return std::ranges::any_of(symbols, [](const Expr& symbol) { return symbol.name() == kName; });
}

bool is_no_bound(Expr most) {
  constexpr int64_t kMostElements = int64_t{1} << 46;  // of a tensor
  return most.max() > kMostElements || reads_unbounded(most);
}

bool grows_without_bound(Expr e) {
  constexpr int64_t kHalf = kMostUnbounded / 2;
  std::vector<Expr> symbols;
  collect_symbols(e, symbols);
  return std::ranges::any_of(symbols, [&](const Expr& symbol) {
    if (symbol.max() == kMostUnbounded && most_at(e, symbol, kMostUnbounded) > most_at(e, symbol, kHalf)) return true;
    return symbol.min() == -kMostUnbounded && most_at(e, symbol, -kMostUnbounded) > most_at(e, symbol, -kHalf);
  });
}

}  // namespace kiln::sym
