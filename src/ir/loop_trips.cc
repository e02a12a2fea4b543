#include "ir/loop_trips.h"

#include <algorithm>
#include <set>

#include "ir/bodies.h"
#include "ops/cast.h"
#include "ops/element_wise.h"
#include "ops/identity.h"
#include "ops/if.h"
#include "tensor/view.h"

namespace kiln::ir {
namespace {

/// Whether a value is a constant that is false, or a copy of one.
bool is_false(const Graph& graph, ValueId value) {
  while (graph.producer_as<ops::Identity>(value)) value = graph.node(graph.value(value).producer).inputs[0];
  const HostTensor* constant = graph.constant(value);
  return constant && constant->volume() == 1 && View(*constant)[0] == 0;
}

class Search {
 public:
  Search(const Graph& body, std::span<const LoopNumber> numbers) {
    for (const LoopNumber& number : numbers) {
      if (!number.first || !number.after) {
        changing_.push_back(number.now);
        continue;
      }
      first_.emplace_back(number.now, *number.first);
      after_.emplace_back(number.now, *number.after);
    }
    const auto note = [&](const Graph& graph) {
      for (int i = 0; i < graph.num_nodes(); ++i)
        if (const auto id = static_cast<NodeId>(i); graph.alive(id))
          for (const DecidedSize& size : graph.node(id).sizes) changing_.push_back(size.symbol);
    };
    note(body);
    for_each_body(body, note);
  }

  /// A bound by a value that is true where the loop goes on: by any of the conditions that it needs.
  std::optional<sym::Expr> by(const Graph& graph, ValueId value, int depth = 0) const {
    constexpr int kDeepest = 16;
    if (depth == kDeepest) return std::nullopt;
    if (const auto& values = graph.type(value).values; values && values->size() == 1) return by((*values)[0]);
    if (graph.value(value).producer == NodeId::kNone) return std::nullopt;
    const Node& node = graph.node(graph.value(value).producer);
    const auto input = [&](size_t i) { return by(graph, node.inputs[i], depth + 1); };
    if (node.op.as<ops::Identity>()) return input(0);
    if (node.op.as<ops::Cast>()) return graph.type(node.inputs[0]).dtype == DType::kBool ? input(0) : std::nullopt;
    if (const auto* both = node.op.as<ops::ElementWise>(); both && both->kind == ops::ElementWiseKind::kAnd)
      return least(input(0), input(1));
    if (!node.op.as<ops::If>() || node.bodies.size() != 2) return std::nullopt;
    // "a and b" as exporters write it: if a then b else false.
    const auto output = static_cast<size_t>(std::ranges::find(node.outputs, value) - node.outputs.begin());
    const auto of_branch = [&](size_t b) { return node.bodies[b]->outputs()[output].value; };
    if (!is_false(*node.bodies[1], of_branch(1))) return std::nullopt;
    return least(input(0), by(*node.bodies[0], of_branch(0), depth + 1));
  }

 private:
  static std::optional<sym::Expr> least(std::optional<sym::Expr> a, std::optional<sym::Expr> b) {
    return a && b ? std::optional(sym::min(*a, *b)) : a ? a : b;
  }
  std::optional<sym::Expr> by(sym::Expr holds) const {
    if (holds.constant() == 0) return 1;
    if (holds.kind() == sym::Kind::kMin) return least(by(holds.lhs()), by(holds.rhs()));
    if (const sym::Expr fails = 1 - holds; fails.kind() == sym::Kind::kLess)  // not a < b: b <= a
      return while_positive(fails.lhs() - fails.rhs() + 1);
    return holds.kind() == sym::Kind::kLess ? while_positive(holds.rhs() - holds.lhs()) : std::nullopt;
  }
  /// A bound where the loop goes on while `rest` is positive: each iteration makes it less.
  std::optional<sym::Expr> while_positive(sym::Expr rest) const {
    std::vector<sym::Expr> symbols;
    sym::collect_symbols(rest, symbols);
    for (const sym::Expr& symbol : symbols)
      if (std::ranges::find(changing_, symbol) != changing_.end()) return std::nullopt;
    const std::optional<int64_t> step = (rest - sym::substitute(rest, after_)).constant();
    const sym::Expr at_first = sym::substitute(rest, first_);
    if (!step || *step <= 0 || !at_first.is_valid()) return std::nullopt;
    return sym::max(sym::ceil_div(at_first, *step) + 1, 1);
  }

  std::vector<std::pair<sym::Expr, sym::Expr>> first_, after_;
  std::vector<sym::Expr> changing_;  // in a way that nothing tells
};

bool has_random_node(const Graph& body) {
  for (int i = 0; i < body.num_nodes(); ++i)
    if (const auto id = static_cast<NodeId>(i); body.alive(id) && body.node(id).op.has(Trait::kNondeterministic))
      return true;
  return false;
}

/// Whether a node may give other results for equal inputs.
bool is_random(const Node& node) {
  if (node.op.has(Trait::kNondeterministic)) return true;
  return std::ranges::any_of(node.bodies, [](const auto& body) {
    bool found = has_random_node(*body);
    for_each_body(*body, [&](const Graph& inner) { found |= has_random_node(inner); });
    return found;
  });
}

}  // namespace

std::optional<sym::Expr> most_trips(const Graph& body, ValueId condition, std::span<const LoopNumber> numbers) {
  return Search(body, numbers).by(body, condition);
}

bool is_same_in_each_iteration(const Graph& body, ValueId value, std::span<const ValueId> varying,
                               std::span<const sym::Expr> changing) {
  const auto contains = [](const auto& list, const auto& item) {
    return std::ranges::find(list, item) != std::ranges::end(list);
  };
  std::vector<ValueId> pending{value};
  std::set<ValueId> seen;
  while (!pending.empty()) {
    const ValueId next = pending.back();
    pending.pop_back();
    if (next == ValueId::kNone || !seen.insert(next).second) continue;
    if (contains(varying, next)) return false;
    std::vector<sym::Expr> symbols;
    if (const auto& values = body.type(next).values)
      for (const sym::Expr& element : *values) sym::collect_symbols(element, symbols);
    const auto changes = [&](const sym::Expr& symbol) { return contains(changing, symbol); };
    if (std::ranges::any_of(symbols, changes)) return false;
    for (int i = 0; !symbols.empty() && i < body.num_nodes(); ++i) {  // what decides a size that the value knows
      const auto id = static_cast<NodeId>(i);
      if (!body.alive(id)) continue;
      const Node& node = body.node(id);
      if (std::ranges::any_of(node.sizes, [&](const DecidedSize& size) { return contains(symbols, size.symbol); }))
        pending.insert(pending.end(), node.outputs.begin(), node.outputs.end());
    }
    if (body.value(next).producer == NodeId::kNone) continue;
    const Node& node = body.node(body.value(next).producer);
    if (is_random(node)) return false;
    pending.insert(pending.end(), node.inputs.begin(), node.inputs.end());
  }
  return true;
}

}  // namespace kiln::ir
