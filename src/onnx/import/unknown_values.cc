#include "onnx/import/unknown_values.h"

#include <algorithm>
#include <vector>

#include "ops/movement.h"

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

}  // namespace

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
