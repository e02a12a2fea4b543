#include "onnx/import/unknown_values.h"

#include <algorithm>
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

}  // namespace

bool is_readable(const TensorType& type) {
  const auto count = type.volume().constant();
  return (is_index(type.dtype) || type.dtype == DType::kBool) && count && *count <= ops::ReadValues::kMost;
}

std::vector<std::string> values_to_read(const ir::Graph& graph, ir::ValueId value) {
  std::vector<std::string> names;
  std::vector<bool> seen(static_cast<size_t>(graph.num_values()), false);
  std::vector<ir::ValueId> pending{value};
  while (!pending.empty()) {
    const ir::ValueId next = pending.back();
    pending.pop_back();
    if (is_known(graph, next) || seen[ir::index(next)]) continue;
    seen[ir::index(next)] = true;
    if (!is_readable(graph.type(next))) return {};
    const ir::NodeId producer = graph.value(next).producer;
    const std::vector<ir::ValueId> inputs =
        producer == ir::NodeId::kNone ? std::vector<ir::ValueId>() : graph.node(producer).inputs;
    const auto is_known_here = [&](ir::ValueId input) { return is_known(graph, input); };
    const auto follows = [&](ir::ValueId input) { return is_known_here(input) || can_follow_from(graph, input); };
    if (producer != ir::NodeId::kNone && carries_values(graph.node(producer)) && std::ranges::all_of(inputs, follows) &&
        !std::ranges::all_of(inputs, is_known_here)) {
      pending.insert(pending.end(), inputs.begin(), inputs.end());
    } else if (graph.value(next).name.empty()) {
      return {};
    } else {
      names.push_back(graph.value(next).name);
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
