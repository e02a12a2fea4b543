#include "onnx/import/unknown_values.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "ops/cast.h"
#include "ops/concatenation.h"
#include "ops/element_wise.h"
#include "ops/expand.h"
#include "ops/gather.h"
#include "ops/identity.h"
#include "ops/movement.h"
#include "ops/read_values.h"
#include "ops/reduce.h"
#include "ops/reshape.h"
#include "ops/select.h"
#include "ops/slice.h"
#include "ops/squeeze.h"
#include "ops/unary.h"
#include "ops/unsqueeze.h"

namespace kiln::onnx {
namespace {

bool is_known(const ir::Graph& graph, ir::ValueId value) {
  return value == ir::ValueId::kNone || graph.type(value).values || graph.constant(value);
}

/// The reason why a limit leaves a value unknown whose operands are known; empty if no limit does.
std::string limit_of(const ir::Graph& graph, ir::ValueId value) {
  const TensorType& type = graph.type(value);
  if (!is_index(type.dtype) && type.dtype != DType::kBool) return {};
  const auto count = type.volume().constant();
  const ir::NodeId producer = graph.value(value).producer;
  const bool is_input = producer == ir::NodeId::kNone;
  if (!count && is_input && type.rank() == 1)
    return str("it follows from input '", graph.value(value).name, "' (", type, "), whose extent the model must state");
  if (!count || *count <= (is_input ? kMaxSymbolicValues : kMostFollowedValues)) return {};
  if (is_input)
    return type.rank() > 1 ? std::string()
                           : str("it follows from input '", graph.value(value).name, "' (", type, "), and ",
                                 kMaxSymbolicValues, " elements of a shape input are possible");
  const auto known = [&](ir::ValueId input) { return is_known(graph, input); };
  if (!std::ranges::all_of(graph.node(producer).inputs, known)) return {};
  return str("it follows from '", graph.value(value).name, "' (", type, "), and tensors of at most ",
             kMostFollowedValues, " elements are followed");
}

template <class... Ops>
bool is_one_of(const ir::Node& node) {
  return (node.op.as<Ops>() || ...);
}

/// Whether a node's integers follow from those that it reads as expressions.
bool carries_values(const ir::Node& node) {
  return is_one_of<ops::Cast, ops::Concatenation, ops::ElementWise, ops::Expand, ops::Gather, ops::Identity,
                   ops::Reduce, ops::Reshape, ops::Select, ops::Slice, ops::Squeeze, ops::Unary, ops::Unsqueeze>(node);
}

/// Whether the numbers of data that a shape needs may be those of `value`, from which it follows. A graph's input that
/// is no list of numbers is data, of which a node makes the number: the host reads the node's result.
bool can_follow_from(const ir::Graph& graph, ir::ValueId value) {
  const bool is_input = graph.value(value).producer == ir::NodeId::kNone;
  return is_readable(graph.type(value)) && (!is_input || graph.type(value).rank() <= 1);
}

/// How many elements the host reads of a value. Of a vector that may be empty it is one: reading none fails the run.
std::optional<int64_t> num_read(const TensorType& type) {
  const sym::Expr count = type.volume();
  return type.rank() == 1 && count.max() == 1 ? 1 : count.constant();
}

}  // namespace

bool is_readable(const TensorType& type) {
  const auto count = num_read(type);
  return (is_index(type.dtype) || type.dtype == DType::kBool) && count && *count <= ops::ReadValues::kMost;
}

namespace {
/// The values that the numbers of `value` may be read from: those that it follows from, or itself.
class Readable {
 public:
  explicit Readable(const ir::Graph& graph) : graph_(graph) {
    states_.resize(static_cast<size_t>(graph.num_values()), State::kUnseen);
  }

  /// Finds out how the numbers of `value`, and of all that it follows from, are known. Operands come first: a value
  /// that has no name is read by what it follows from, and where one of that cannot be read, what follows from it is.
  void visit(ir::ValueId value) {
    std::vector<ir::ValueId> pending{value};
    while (!pending.empty()) {
      const ir::ValueId next = pending.back();
      State& state = states_[ir::index(next)];
      if (state == State::kUnseen) {
        state = State::kOpen;
        for (const ir::ValueId input : sources_of(next))
          if (states_[ir::index(input)] == State::kUnseen) pending.push_back(input);
        continue;
      }
      pending.pop_back();
      if (state == State::kOpen) state = settle(next);
    }
  }
  bool knows(ir::ValueId value) const { return is_known(graph_, value); }
  bool follows(ir::ValueId value) const { return states_[ir::index(value)] == State::kFollows; }
  bool is_read(ir::ValueId value) const { return states_[ir::index(value)] == State::kRead; }
  /// What a value follows from and is not known; none where it carries no numbers of it.
  std::vector<ir::ValueId> sources_of(ir::ValueId value) const {
    const ir::NodeId producer = graph_.value(value).producer;
    if (knows(value) || !is_readable(graph_.type(value)) || producer == ir::NodeId::kNone) return {};
    if (!carries_values(graph_.node(producer))) return {};
    std::vector<ir::ValueId> sources;
    for (const ir::ValueId input : graph_.node(producer).inputs) {
      if (knows(input)) continue;
      if (!can_follow_from(graph_, input)) return {};
      sources.push_back(input);
    }
    return sources;
  }

 private:
  enum class State : uint8_t { kUnseen, kOpen, kFollows, kRead, kLost };

  State settle(ir::ValueId value) const {
    if (knows(value)) return State::kFollows;
    const std::vector<ir::ValueId> sources = sources_of(value);
    const auto is_found = [&](ir::ValueId source) { return follows(source) || is_read(source); };
    if (!sources.empty() && std::ranges::all_of(sources, is_found)) return State::kFollows;
    return is_readable(graph_.type(value)) && !graph_.value(value).name.empty() ? State::kRead : State::kLost;
  }

  const ir::Graph& graph_;
  std::vector<State> states_;
};
}  // namespace

std::vector<std::string> values_to_read(const ir::Graph& graph, ir::ValueId value) {
  Readable readable(graph);
  readable.visit(value);
  std::vector<std::string> names;
  std::vector<bool> seen(static_cast<size_t>(graph.num_values()), false);
  std::vector<ir::ValueId> pending{value};
  while (!pending.empty()) {
    const ir::ValueId next = pending.back();
    pending.pop_back();
    if (readable.knows(next) || seen[ir::index(next)]) continue;
    seen[ir::index(next)] = true;
    if (readable.is_read(next)) {
      names.push_back(graph.value(next).name);
    } else if (readable.follows(next)) {
      for (const ir::ValueId source : readable.sources_of(next)) pending.push_back(source);
    } else {
      return {};
    }
  }
  return names;
}

std::string why_unknown(const ir::Graph& graph, ir::ValueId value) {
  std::vector<bool> seen(static_cast<size_t>(graph.num_values()), false);
  std::vector<ir::ValueId> pending{value};
  while (!pending.empty()) {
    const ir::ValueId next = pending.back();
    pending.pop_back();
    if (is_known(graph, next) || seen[ir::index(next)]) continue;
    seen[ir::index(next)] = true;
    if (std::string limit = limit_of(graph, next); !limit.empty()) return limit;
    if (const ir::NodeId producer = graph.value(next).producer; producer != ir::NodeId::kNone)
      for (const ir::ValueId input : graph.node(producer).inputs) pending.push_back(input);
  }
  return "it is computed from data";
}

}  // namespace kiln::onnx
