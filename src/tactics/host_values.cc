#include "tactics/host_values.h"

#include "tensor/view.h"

namespace kiln {

SymbolicValues host_values(const ir::Graph& graph, const ir::Node& node, size_t i) {
  if (i >= node.inputs.size() || node.inputs[i] == ir::ValueId::kNone) return {};
  if (const HostTensor* constant = graph.constant(node.inputs[i])) {
    const std::vector<int64_t> numbers = View(*constant).integers();
    return {numbers.begin(), numbers.end()};
  }
  CHECK(graph.type(node.inputs[i]).values != nullptr);
  return *graph.type(node.inputs[i]).values;
}

}  // namespace kiln
