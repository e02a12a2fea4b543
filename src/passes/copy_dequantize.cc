#include "passes/copy_dequantize.h"

#include <algorithm>
#include <utility>

#include "ops/dequantize.h"

namespace kiln::passes {
namespace {

bool computes(const Op& op) { return op.has(Trait::kPointwise) || op.has(Trait::kContraction); }

Status copy_for_readers(ir::Graph& graph, ir::NodeId id) {
  const ir::Node node = graph.node(id);
  std::vector<ir::NodeId> readers = graph.value(node.outputs[0]).users;
  std::ranges::sort(readers);
  readers.erase(std::ranges::unique(readers).begin(), readers.end());
  const bool is_kept = graph.is_output(node.outputs[0]) || std::ranges::any_of(readers, [&](ir::NodeId reader) {
                         return !computes(graph.node(reader).op);
                       });
  bool is_first = !is_kept;  // whoever comes first takes the node that there is
  for (const ir::NodeId reader : readers) {
    if (!computes(graph.node(reader).op) || std::exchange(is_first, false)) continue;
    const ir::ValueId copy = TRY(graph.add_one(node.op, node.inputs));
    graph.set_provenance(graph.value(copy).producer, node.provenance);
    graph.set_name(graph.value(copy).producer, node.name);
    const std::vector<ir::ValueId> inputs = graph.node(reader).inputs;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] == node.outputs[0]) graph.set_input(reader, static_cast<int>(i), copy);
  }
  return {};
}

}  // namespace

Status copy_dequantize(ir::Graph& graph, PassContext&) {
  for (const ir::NodeId id : TRY(graph.topological_order())) {
    const ir::Node& node = graph.node(id);
    if (node.op.as<ops::Dequantize>() && graph.num_uses(node.outputs[0]) > 1) TRY(copy_for_readers(graph, id));
  }
  return graph.infer();
}

}  // namespace kiln::passes
