/// Walks over expressions: replacing symbols, listing them, computing the value.
#include <algorithm>

#include "sym/checked.h"
#include "sym/node.h"

namespace kiln::sym {

Expr substitute(Expr e, std::span<const std::pair<Expr, Expr>> replacements) {
  if (e.is_const() || !e.is_valid()) return e;
  if (e.is_symbol()) {
    for (const auto& [symbol, replacement] : replacements)
      if (symbol == e) return replacement;
    return e;
  }
  return apply(e.kind(), substitute(e.lhs(), replacements), substitute(e.rhs(), replacements));
}

void collect_symbols(Expr e, std::vector<Expr>& out) {
  if (e.is_const() || !e.is_valid()) return;
  if (e.is_symbol()) {
    if (std::find(out.begin(), out.end(), e) == out.end()) out.push_back(e);
    return;
  }
  collect_symbols(e.lhs(), out);
  collect_symbols(e.rhs(), out);
}

Result<int64_t> evaluate(Expr e, std::span<const int64_t> symbols) {
  if (e.is_const()) return e.value();
  TRY(require(e.is_valid(), e.why_invalid()));
  if (e.is_symbol()) {
    const auto id = static_cast<size_t>(e.symbol_id());
    TRY(require(id < symbols.size(), "symbol '", e.name(), "' is not bound"));
    return symbols[id];
  }
  const int64_t a = TRY(evaluate(e.lhs(), symbols)), b = TRY(evaluate(e.rhs(), symbols));
  int64_t out = 0;
  if (const Fault fault = compute(e.kind(), a, b, out); fault != Fault::kNone)
    return fault_error(fault, e.kind(), a, b);
  return out;
}

}  // namespace kiln::sym
