/// The graphs inside a node: inference and walks that go into them.
#pragma once

#include "base/function_ref.h"
#include "ir/graph.h"
#include "ops/bodies.h"

namespace kiln::ir {

/// A node's bodies, whose inputs get the types that the node's op says. An output without a name is there to be run,
/// and none of the node's.
class NodeBodyTypes final : public BodyTypes {
 public:
  explicit NodeBodyTypes(std::span<const std::shared_ptr<Graph>> bodies) : bodies_(bodies) {}
  int count() const override { return static_cast<int>(bodies_.size()); }
  Result<std::vector<TensorType>> infer(int body, std::span<const TensorType> inputs) override;
  Status give_up(int body, Error error, std::span<const TensorType> outputs) override;
  sym::Expr most(int body, sym::Expr extent) const override;
  bool is_known_outside(int body, sym::Expr element) const override;

 private:
  std::span<const std::shared_ptr<Graph>> bodies_;
};

/// The types of what a body gives to its node: of its outputs with a name.
std::vector<TensorType> output_types(const Graph& body);
/// A bound of an expression from bounds of some of its symbols: a constant where it does not grow with each of them.
sym::Expr upper_bound(sym::Expr e, std::span<const std::pair<sym::Expr, sym::Expr>> bounds);
/// Calls `visit` with the graph's bodies, and theirs, outer ones first.
void for_each_body(const Graph& graph, FunctionRef<void(const Graph&)> visit);
/// Appends the symbols in attributes of a node's op and of all ops in its bodies that `out` lacks.
void collect_symbols(const Node& node, std::vector<sym::Expr>& out);

}  // namespace kiln::ir
