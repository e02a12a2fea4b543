#include "ir/bodies.h"

#include <algorithm>

#include "ops/dim_values.h"
#include "ops/expand.h"
#include "sym/table.h"
#include "sym/total.h"
#include "sym/unbounded.h"

namespace kiln::ir {
namespace {

/// The bound of a symbol that a node of the graph decides; nothing for other symbols.
const sym::Expr* bound_of(const Graph& graph, const sym::Expr& symbol) {
  for (int i = 0; i < graph.num_nodes(); ++i)
    if (const auto id = static_cast<NodeId>(i); graph.alive(id))
      for (const DecidedSize& size : graph.node(id).sizes)
        if (size.symbol == symbol) return &size.most;
  return nullptr;
}

using Bounds = std::span<const std::pair<sym::Expr, sym::Expr>>;

/// The largest value of an expression, as a number if that is a bound of anything.
sym::Expr limit_of(sym::Expr e) {
  return e.max() < sym::kMostUnbounded || !e.table() ? sym::Expr(e.max()) : sym::unbounded(*e.table());
}

/// A bound of an expression from bounds of symbols; what is subtracted is at least its minimum.
sym::Expr bounded(sym::Expr e, Bounds bounds) {
  using enum sym::Kind;
  const auto part = [&](sym::Expr operand) { return bounded(operand, bounds); };
  switch (e.kind()) {
    case kConst: return e;
    case kSymbol: return sym::substitute(e, bounds);
    case kSum: return part(e.lhs()) + part(e.rhs());
    case kSub: return e.rhs().min() > -sym::kMostUnbounded ? part(e.lhs()) - e.rhs().min() : limit_of(e);
    case kMax: return sym::max(part(e.lhs()), part(e.rhs()));
    case kMin: {
      const sym::Expr a = part(e.lhs()), b = part(e.rhs());
      if (sym::reads_unbounded(a)) return b;
      return sym::reads_unbounded(b) ? a : sym::min(a, b);
    }
    case kProd:
      if (e.lhs().min() >= 0 && e.rhs().min() >= 0) return part(e.lhs()) * part(e.rhs());
      if (e.lhs().is_const()) return e.lhs() * e.rhs().min();  // a negative number of them
      return limit_of(e);
    case kFloorDiv:
    case kCeilDiv:
      if (!e.rhs().is_const() || e.rhs().value() <= 0) return limit_of(e);
      return sym::apply(e.kind(), part(e.lhs()), e.rhs());
    default: return limit_of(e);
  }
}

sym::Expr most_of(const Graph& graph, sym::Expr e, int depth) {
  constexpr int kMostBounds = 64;  // bounds of bounds: a chain that long is cut by a constant
  std::vector<sym::Expr> symbols;
  sym::collect_symbols(e, symbols);
  std::vector<std::pair<sym::Expr, sym::Expr>> bounds;
  for (const sym::Expr& symbol : symbols)
    if (const sym::Expr* bound = bound_of(graph, symbol)) bounds.emplace_back(symbol, *bound);
  if (bounds.empty()) return e;
  return depth == kMostBounds ? limit_of(e) : most_of(graph, upper_bound(e, bounds), depth + 1);
}

}  // namespace

Result<std::vector<TensorType>> NodeBodyTypes::infer(int body, std::span<const TensorType> inputs) {
  Graph& graph = *bodies_[static_cast<size_t>(body)];
  TRY(require(graph.inputs().size() == inputs.size(), "body ", body, " has ", graph.inputs().size(), " inputs; ",
              inputs.size(), " are given"));
  for (size_t i = 0; i < inputs.size(); ++i) graph.give_input_type(graph.inputs()[i], inputs[i]);
  TRY(in_context(graph.infer(), [&] { return str("body ", body); }));
  return output_types(graph);
}

Status NodeBodyTypes::give_up(int body, Error error, std::span<const TensorType> outputs) {
  Graph& graph = *bodies_[static_cast<size_t>(body)];
  if (!graph.may_be_impossible()) return std::unexpected(std::move(error));
  Graph empty(graph.shared_table());
  for (const ValueId input : graph.inputs()) empty.add_input(graph.value(input).name, graph.type(input));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueId zero = empty.add_constant(HostTensor::scalar(outputs[i].dtype, 0));
    const ValueId shape = TRY(
        empty.add_one(ops::DimValues{outputs[i].shape, DType::kI64, {static_cast<int64_t>(outputs[i].rank())}}, {}));
    empty.mark_output(TRY(empty.add_one(ops::Expand{}, {zero, shape})), graph.outputs()[i].name);
  }
  graph.replace_content(std::move(empty));
  graph.assume({sym::Relation::kEqual, 0, 1, str("the branch cannot run for these shapes: ", error.message)});
  return {};
}

std::vector<TensorType> output_types(const Graph& body) {
  std::vector<TensorType> types;
  for (const Output& output : body.outputs())
    if (!output.name.empty()) types.push_back(body.type(output.value));
  return types;
}

sym::Expr upper_bound(sym::Expr e, Bounds bounds) {
  const sym::Expr bound = bounded(e, bounds);
  return bound.is_valid() ? bound : limit_of(e);
}

sym::Expr NodeBodyTypes::most(int body, sym::Expr extent) const {
  return most_of(*bodies_[static_cast<size_t>(body)], extent, 0);
}

bool NodeBodyTypes::is_known_outside(int body, sym::Expr element) const {
  const Graph& graph = *bodies_[static_cast<size_t>(body)];
  // What the body assumes is checked where it runs, and an element that is computed outside says nothing of it.
  if (!graph.assumptions().empty() || !sym::is_total(element)) return false;
  std::vector<sym::Expr> symbols;
  sym::collect_symbols(element, symbols);
  return std::ranges::none_of(symbols, [&](const sym::Expr& symbol) { return bound_of(graph, symbol); });
}

void for_each_body(const Graph& graph, FunctionRef<void(const Graph&)> visit) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<NodeId>(i);
    if (!graph.alive(id)) continue;
    for (const auto& body : graph.node(id).bodies) {
      visit(*body);
      for_each_body(*body, visit);
    }
  }
}

void collect_symbols(const Node& node, std::vector<sym::Expr>& out) {
  collect_symbols(node.op, out);
  for (const auto& body : node.bodies)
    for (int i = 0; i < body->num_nodes(); ++i)
      if (const auto id = static_cast<NodeId>(i); body->alive(id)) collect_symbols(body->node(id), out);
}

}  // namespace kiln::ir
