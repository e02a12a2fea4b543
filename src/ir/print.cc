#include <algorithm>
#include <set>

#include "ir/body_role.h"
#include "ops/constant.h"

namespace kiln::ir {
namespace {
/// Names values: their own where unique and usable, else "%id".
class Names {
 public:
  explicit Names(const Graph& graph) : graph_(graph) {
    std::set<std::string_view> seen;
    for (int i = 0; i < graph.num_values(); ++i) {
      const std::string& name = graph.value(static_cast<ValueId>(i)).name;
      if (!name.empty() && !seen.insert(name).second) repeated_.insert(name);
    }
  }
  std::string of(ValueId id) const {
    if (id == ValueId::kNone) return "_";
    const std::string& name = graph_.value(id).name;
    return name.empty() || repeated_.contains(name) ? str(name, '%', static_cast<int>(id)) : name;
  }
  std::string of(std::span<const ValueId> ids) const {
    std::string out;
    for (const ValueId id : ids) out += (out.empty() ? "" : ", ") + of(id);
    return out;
  }

 private:
  const Graph& graph_;
  std::set<std::string_view> repeated_;
};

/// A text with each of its lines moved to the right.
std::string indented(std::string_view text) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    out += str("  ", text.substr(begin, end - begin));
    begin = end;
  }
  return out;
}
}  // namespace

std::string print(const Graph& graph) {
  const Names names(graph);
  std::string out;
  for (const ValueId input : graph.inputs()) out += str(names.of(input), ": ", graph.type(input), "\n");
  const auto order = graph.topological_order();
  if (!order) return out + order.error().message;
  for (const NodeId id : *order) {
    const Node& node = graph.node(id);
    out += str(names.of(node.outputs), " = ", node.op, '(', names.of(node.inputs), ')');
    for (size_t b = 0; b < node.bodies.size(); ++b)
      out += str(" {  # ", body_role(node, b), '\n', indented(print(*node.bodies[b])), "}");
    out += "  #";
    for (const ValueId output : node.outputs) out += str(' ', graph.type(output));
    out += '\n';
  }
  out += "return ";
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Output& output = graph.outputs()[i];
    out += str(i ? ", " : "", names.of(output.value));
    if (!output.name.empty() && output.name != names.of(output.value)) out += str(" as ", output.name);
  }
  return out + "\n";
}

}  // namespace kiln::ir
