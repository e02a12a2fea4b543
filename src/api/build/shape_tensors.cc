#include "api/build/shape_tensors.h"

#include <vector>

#include "ops/shape.h"

namespace kiln::api {

Result<bool> is_shape_tensor(ir::Graph& graph, ir::ValueId value) {
  const TensorType& type = TRY(graph.inferred_type(value));
  if (!type.values) return false;
  if (graph.producer_as<ops::Shape>(value)) return true;
  std::vector<bool> seen(static_cast<size_t>(graph.num_values()), false);
  std::vector<ir::ValueId> pending{value};
  seen[ir::index(value)] = true;
  while (!pending.empty()) {
    const ir::ValueId next = pending.back();
    pending.pop_back();
    for (const ir::NodeId user : graph.value(next).users) {
      const ir::Node& node = graph.node(user);
      for (size_t i = 0; i < node.inputs.size() && i < 32; ++i)
        if (node.inputs[i] == next && ((node.op.info().host_inputs >> i) & 1U) != 0) return true;
      for (const ir::ValueId output : node.outputs) {
        if (seen[ir::index(output)]) continue;
        seen[ir::index(output)] = true;
        const auto inferred = graph.inferred_type(output);
        if (inferred && inferred->get().values) pending.push_back(output);
      }
    }
  }
  return false;
}

}  // namespace kiln::api
