/// Walks over expressions: replacing symbols, listing them, computing the value. Nodes are shared, so that an
/// expression may stand for a tree without bounds: each walk comes to a node once.
#include <algorithm>
#include <unordered_map>

#include "sym/checked.h"
#include "sym/node.h"
#include "sym/program.h"
#include "sym/table_impl.h"
#include "sym/total.h"

namespace kiln::sym {
namespace {

/// Calls `see` for each distinct node below `e` that `enter` does not refuse, in order of first appearance.
template <class Enter, class See>
void visit(Expr e, Enter enter, See see) {
  if (!e.node() || !e.is_valid()) return;
  const uint64_t number = ++e.table()->impl().num_visits;
  std::vector<const Node*> pending{e.node()};
  while (!pending.empty()) {
    const Node& node = *pending.back();
    pending.pop_back();
    if (node.visit == number || !enter(node)) continue;
    node.visit = number;
    see(node);
    if (node.kind == Kind::kSymbol) continue;
    for (const Expr operand : {node.rhs, node.lhs})
      if (operand.node()) pending.push_back(operand.node());
  }
}

bool enter_any(const Node&) { return true; }

/// An expression made anew, with nodes in place of others.
class Rebuild {
 public:
  using Replacements = std::span<const std::pair<Expr, Expr>>;
  Rebuild(Replacements symbols, const Node* node, Expr by) : symbols_(symbols), node_(node), by_(by) {}

  Expr operator()(Expr e) {
    if (size_of(e) <= kSmallTree) return as_tree(e);
    for (const Node* node : operations_of(e)) {
      const Expr made = node == node_ ? by_ : apply(node->kind, made_of(node->lhs), made_of(node->rhs));
      made_.emplace(node, made);
    }
    return made_of(e);
  }

 private:
  Expr leaf(Expr e) const {
    if (!e.is_symbol()) return e;
    if (e.node() == node_) return by_;
    const auto id = static_cast<size_t>(e.symbol_id());  // where it is if all symbols are replaced
    if (id < symbols_.size() && symbols_[id].first == e) return symbols_[id].second;
    for (const auto& [symbol, replacement] : symbols_)
      if (symbol == e) return replacement;
    return e;
  }
  Expr as_tree(Expr e) const {
    if (e.is_const() || e.is_symbol()) return leaf(e);
    if (e.node() == node_) return by_;
    return apply(e.kind(), as_tree(e.lhs()), as_tree(e.rhs()));
  }
  Expr made_of(Expr e) const { return e.is_const() || e.is_symbol() ? leaf(e) : made_.find(e.node())->second; }

  Replacements symbols_;
  const Node* node_;
  Expr by_;
  std::unordered_map<const Node*, Expr> made_;  // looked up, never iterated
};

}  // namespace

std::vector<const Node*> operations_of(Expr e, bool (*enter)(const Node&)) {
  std::vector<const Node*> result;
  visit(e, enter ? enter : enter_any, [&](const Node& node) {
    if (is_operation(node)) result.push_back(&node);
  });
  std::ranges::sort(result, {}, [](const Node* node) { return node->number; });
  return result;
}

std::vector<const Node*> shared_operations(Expr e, uint32_t plain) {
  constexpr int kDeepest = 100;  // far below what recursion and Program::kMaxStack allow
  constexpr uint32_t kLeastShared = 5;
  if (!e.is_valid() || size_of(e) <= plain) return {};
  struct Use {
    int uses = 0, depth = 0;
  };
  const std::vector<const Node*> all = operations_of(e);
  std::unordered_map<const Node*, Use> uses;  // looked up, never iterated
  for (const Node* node : all)
    for (const Expr operand : {node->lhs, node->rhs})
      if (operand.node()) ++uses[operand.node()].uses;
  std::vector<const Node*> result;
  for (const Node* node : all) {
    Use& use = uses[node];
    const auto depth = [&](Expr operand) { return operand.node() ? uses[operand.node()].depth : 0; };
    use.depth = 1 + std::max(depth(node->lhs), depth(node->rhs));
    if (node == e.node() || (use.depth < kDeepest && (use.uses < 2 || node->size < kLeastShared))) continue;
    result.push_back(node);
    use.depth = 0;
  }
  return result;
}

Expr substitute(Expr e, std::span<const std::pair<Expr, Expr>> replacements) {
  if (e.is_const() || !e.is_valid()) return e;
  return Rebuild(replacements, nullptr, {})(e);
}

Expr replace(Expr e, const Node* node, Expr by) {
  if (e.is_const() || !e.is_valid()) return e;
  return Rebuild({}, node, by)(e);
}

bool mentions(Expr e, const Node* node) {
  bool found = false;
  const auto enter = [&](const Node& here) { return !found && here.number >= node->number; };
  visit(e, enter, [&](const Node& here) { found |= &here == node; });
  return found;
}

void collect_symbols(Expr e, std::vector<Expr>& out) {
  visit(e, enter_any, [&](const Node& node) {
    const Expr symbol = wrap(&node);
    if (symbol.is_symbol() && std::find(out.begin(), out.end(), symbol) == out.end()) out.push_back(symbol);
  });
}

Result<int64_t> evaluate(Expr e, std::span<const int64_t> symbols) {
  if (e.is_const()) return e.value();
  TRY(require(e.is_valid(), e.why_invalid()));
  if (size_of(e) > kSmallTree) return Program::compile(e).run(symbols);
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

bool is_total(Expr e) {
  bool result = e.is_valid();
  const auto see = [&](const Node& node) {
    const bool divides = node.kind == Kind::kFloorDiv || node.kind == Kind::kCeilDiv;
    if (node.kind == Kind::kWithin || is_real_operation(node.kind) || (divides && node.rhs.min() <= 0)) result = false;
  };
  visit(e, enter_any, see);
  return result;
}

}  // namespace kiln::sym
