/// A change of a graph, prepared beside it and applied at once.
#pragma once

#include "ir/graph.h"

namespace kiln::ir {

/// New nodes over values of the graph, and which values they replace. The graph stays as it is until `apply`.
class Patch {
 public:
  explicit Patch(const Graph& graph) : graph_(&graph), first_new_(graph.num_values()) {}

  ValueId tap(ValueId existing) const { return existing; }
  /// Adds a node with one output and infers its type; fails as inference does.
  Result<ValueId> add(Op op, std::vector<ValueId> inputs);
  ValueId add_constant(HostTensor value) { return add_constant(ops::Constant{std::move(value)}); }
  ValueId add_constant(ops::Constant constant);
  /// The elements of a constant of the graph, or of the patch, under other extents of the same volume.
  ValueId add_reshaped(ValueId constant, const Extents& extents);
  /// A vector of shape arithmetic: a Constant where all values are numbers, else DimValues.
  Result<ValueId> add_values(std::vector<sym::Expr> values);
  /// `by` takes the place of `old`. Their types must agree: see `applies`.
  Status replace(ValueId old, ValueId by);

  const TensorType& type(ValueId id) const;
  bool empty() const { return replaced_.empty(); }
  /// Whether every replacement has provably its predecessor's type and is known symbolically where that was. What
  /// inference cannot decide is a reason not to apply a patch; a type that is certainly another is an error.
  Result<bool> applies() const;

  struct Origin {
    std::vector<std::string> provenance;
    std::string name;
  };
  /// Adds the nodes under the name and provenance given and redirects uses. Values keep their names. Returns the values
  /// that took the places.
  Result<std::vector<ValueId>> apply(Graph& graph, const Origin& origin) const;

 private:
  struct Added {
    Op op;
    std::vector<ValueId> inputs;
    TensorType type;
  };
  struct Replaced {
    ValueId old, by;
  };
  bool is_new(ValueId id) const { return static_cast<int>(id) >= first_new_; }
  const ops::Constant* constant(ValueId id) const;

  const Graph* graph_;
  int first_new_;  // ids from here on are those of `added_`
  std::vector<Added> added_;
  std::vector<Replaced> replaced_;
};

}  // namespace kiln::ir
