/// The pattern that a rule of a pass looks for: nodes and the values between them, as plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "ir/graph.h"

namespace kiln::ir {

/// A value and what must stand above it. Values are captured under `name` unless it is empty; a name that occurs twice
/// must meet the same value.
struct Pattern {
  enum class Kind : uint8_t {
    kAny,       ///< any value
    kConstant,  ///< made by a Constant
    kNumber,    ///< made by a Constant, every element `number` up to the rounding of its type
    kOp         ///< output 0 of a node of `info`; of exactly `exact`, where that is set
  };
  Kind kind = Kind::kAny;
  std::string name;
  const OpInfo* info = nullptr;
  Op exact = {};
  double number = 0;
  std::vector<Pattern> inputs = {};  ///< the node's first inputs; what follows them is free
  bool commutes = false;             ///< two inputs may also stand in the other order
};

Pattern any(std::string name);
Pattern constant(std::string name);
Pattern number(double value, std::string name = {});
Pattern node_of(const OpInfo& info, std::string name, std::vector<Pattern> inputs);
/// A node of an op with any attributes: op<Transpose>("outer", any("x")).
template <class T, class... Inputs>
Pattern op(std::string name, Inputs... inputs) {
  return node_of(op_info<T>(), std::move(name), {std::move(inputs)...});
}
/// A node of exactly this op. Products, sums, maxima and minima match in either order.
Pattern exactly(Op op, std::string name, std::vector<Pattern> inputs);

/// The nodes and values that a match found. Values are those of the graph as it was matched.
class Capture {
 public:
  explicit Capture(const Graph& graph) : graph_(&graph) {}

  const Graph& graph() const { return *graph_; }
  ValueId value(std::string_view name) const;  ///< CHECKs that the pattern has it
  NodeId node_id(std::string_view name) const { return graph_->value(value(name)).producer; }
  const Node& node(std::string_view name) const { return graph_->node(node_id(name)); }
  const TensorType& type(std::string_view name) const { return graph_->type(value(name)); }
  const HostTensor* constant(std::string_view name) const { return graph_->constant(value(name)); }
  template <class T>
  const T& op(std::string_view name) const {
    return *graph_->producer_as<T>(value(name));
  }
  /// Whether only the matched nodes need this value.
  bool used_once(std::string_view name) const { return graph_->num_uses(value(name)) == 1; }
  /// Every node that the pattern names or passes through, the root first; constants are not among them.
  const std::vector<NodeId>& nodes() const { return nodes_; }

 private:
  friend class Matcher;
  struct Named {
    std::string_view name;  // of the pattern, which outlives the capture
    ValueId value;
  };
  const Graph* graph_;
  std::vector<Named> values_;
  std::vector<NodeId> nodes_;
};

/// The first match at `value`, operands tried in their order and then swapped; nothing if there is none. The pattern
/// must outlive the capture.
std::optional<Capture> match(const Graph& graph, const Pattern& pattern, ValueId value);

/// The one element of a constant, or what all its elements are; nothing if they differ or it is no constant.
std::optional<double> uniform_constant(const Graph& graph, ValueId value);

}  // namespace kiln::ir
