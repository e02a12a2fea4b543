#include "passes/captures.h"

#include <algorithm>

#include "ops/constant.h"
#include "ops/loop.h"

namespace kiln::passes {
namespace {

ir::ValueId body_input(const ir::Graph& body, size_t node_input) { return body.inputs()[node_input - 1]; }

bool is_read(const ir::Node& node, size_t input) {
  return std::ranges::any_of(node.bodies,
                             [&](const auto& body) { return body->num_uses(body_input(*body, input)) > 0; });
}

/// Removes an input of the node, of which no body's is read.
void remove_capture(ir::Graph& graph, ir::NodeId id, size_t input) {
  const ir::Node& node = graph.node(id);
  for (const auto& body : node.bodies) body->remove_input(body_input(*body, input));
  const int count = static_cast<int>(node.inputs.size());
  for (int i = static_cast<int>(input); i + 1 < count; ++i)
    graph.set_input(id, i, node.inputs[static_cast<size_t>(i) + 1]);
  graph.set_num_inputs(id, count - 1);
}

}  // namespace

size_t first_captured(const ir::Node& node) {
  const auto* loop = node.op.as<ops::Loop>();
  return loop ? static_cast<size_t>(loop->first_captured()) : 1;
}

Status tidy_captures(ir::Graph& graph, PassContext&) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id) || graph.node(id).bodies.empty()) continue;
    for (size_t input = graph.node(id).inputs.size(); input-- > first_captured(graph.node(id));) {
      const ir::Node& node = graph.node(id);
      if (const auto* constant = graph.producer_as<ops::Constant>(node.inputs[input])) {
        const std::string& name = graph.value(node.inputs[input]).name;
        for (const auto& body : node.bodies)
          if (const ir::ValueId inside = body_input(*body, input); body->num_uses(inside) > 0)
            body->replace_uses(inside, body->add_constant(*constant, name));
      }
      if (!is_read(node, input)) remove_capture(graph, id, input);
    }
  }
  return graph.infer();
}

}  // namespace kiln::passes
