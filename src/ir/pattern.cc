#include "ir/pattern.h"

#include <algorithm>
#include <cmath>

#include "ops/element_wise.h"
#include "tensor/view.h"

namespace kiln::ir {

Pattern any(std::string name) { return {.name = std::move(name)}; }
Pattern constant(std::string name) { return {.kind = Pattern::Kind::kConstant, .name = std::move(name)}; }
Pattern number(double value, std::string name) {
  return {.kind = Pattern::Kind::kNumber, .name = std::move(name), .number = value};
}
Pattern node_of(const OpInfo& info, std::string name, std::vector<Pattern> inputs) {
  return {.kind = Pattern::Kind::kOp, .name = std::move(name), .info = &info, .inputs = std::move(inputs)};
}

namespace {
bool commutes(const Op& op) {
  const auto* element_wise = op.as<ops::ElementWise>();
  if (!element_wise) return false;
  switch (element_wise->kind) {
    case ops::ElementWiseKind::kSum:
    case ops::ElementWiseKind::kProd:
    case ops::ElementWiseKind::kMax:
    case ops::ElementWiseKind::kMin:
    case ops::ElementWiseKind::kAnd:
    case ops::ElementWiseKind::kOr:
    case ops::ElementWiseKind::kXor:
    case ops::ElementWiseKind::kEqual: return true;
    default: return false;
  }
}
}  // namespace

Pattern exactly(Op op, std::string name, std::vector<Pattern> inputs) {
  Pattern pattern = node_of(op.info(), std::move(name), std::move(inputs));
  pattern.commutes = commutes(op) && pattern.inputs.size() == 2;
  pattern.exact = std::move(op);
  return pattern;
}

ValueId Capture::value(std::string_view name) const {
  for (const Named& named : values_)
    if (named.name == name) return named.value;
  check_failed("the pattern has this name", str(name).c_str(), 0);
}

/// Depth first with backtracking: `goals` is what still has to match, its last entry next.
class Matcher {
 public:
  struct Goal {
    const Pattern* pattern;
    ValueId value;
  };
  explicit Matcher(const Graph& graph) : graph_(graph) {}

  bool run(std::vector<Goal> goals, Capture& capture) const {
    while (!goals.empty()) {
      const Goal goal = goals.back();
      goals.pop_back();
      if (goal.value == ValueId::kNone || !name(goal, capture)) return false;
      if (goal.pattern->kind != Pattern::Kind::kOp) {
        if (!fits(goal)) return false;
        continue;
      }
      const NodeId id = fitting_node(goal);
      if (id == NodeId::kNone) return false;
      if (std::find(capture.nodes_.begin(), capture.nodes_.end(), id) == capture.nodes_.end())
        capture.nodes_.push_back(id);
      const auto& patterns = goal.pattern->inputs;
      if (goal.pattern->commutes) {
        std::vector<Goal> straight = goals;
        push_inputs(straight, patterns, graph_.node(id), false);
        Capture attempt = capture;
        if (run(std::move(straight), attempt)) return capture = std::move(attempt), true;
      }
      push_inputs(goals, patterns, graph_.node(id), goal.pattern->commutes);
    }
    return true;
  }

 private:
  static bool name(const Goal& goal, Capture& capture) {
    if (goal.pattern->name.empty()) return true;
    for (const auto& named : capture.values_)
      if (named.name == goal.pattern->name) return named.value == goal.value;
    capture.values_.push_back({goal.pattern->name, goal.value});
    return true;
  }
  bool fits(const Goal& goal) const {
    if (goal.pattern->kind == Pattern::Kind::kAny) return true;
    if (!graph_.constant(goal.value)) return false;
    if (goal.pattern->kind == Pattern::Kind::kConstant) return true;
    const auto found = uniform_constant(graph_, goal.value);
    const double want = goal.pattern->number;
    // Exporters round decimal constants to f32, some to f16.
    const double epsilon = graph_.type(goal.value).dtype == DType::kF16 ? 0x1p-10 : 0x1p-22;
    return found && std::abs(*found - want) <= std::abs(want) * epsilon;
  }
  NodeId fitting_node(const Goal& goal) const {
    const Value& value = graph_.value(goal.value);
    if (value.producer == NodeId::kNone || value.output != 0) return NodeId::kNone;
    const Node& node = graph_.node(value.producer);
    const Pattern& pattern = *goal.pattern;
    if (&node.op.info() != pattern.info || node.inputs.size() < pattern.inputs.size()) return NodeId::kNone;
    return pattern.exact && !(pattern.exact == node.op) ? NodeId::kNone : value.producer;
  }
  static void push_inputs(std::vector<Goal>& goals, const std::vector<Pattern>& patterns, const Node& node, bool swap) {
    for (size_t i = patterns.size(); i-- > 0;) goals.push_back({&patterns[i], node.inputs[swap ? 1 - i : i]});
  }

  const Graph& graph_;
};

std::optional<Capture> match(const Graph& graph, const Pattern& pattern, ValueId value) {
  Capture capture(graph);
  if (!Matcher(graph).run({{&pattern, value}}, capture)) return std::nullopt;
  return capture;
}

std::optional<double> uniform_constant(const Graph& graph, ValueId value) {
  const HostTensor* constant = graph.constant(value);
  if (!constant || constant->volume() == 0) return std::nullopt;
  const View view(*constant);
  const double first = view[0];
  for (int64_t i = 1; i < view.volume(); ++i)
    if (!(view[i] == first)) return std::nullopt;
  return first;
}

}  // namespace kiln::ir
