#include "ir/source_names.h"

namespace kiln::ir {

std::set<std::string> source_names(const Graph& graph) {
  std::set<std::string> names;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<NodeId>(i);
    if (!graph.alive(id) || graph.node(id).outputs.empty()) continue;
    if (const OriginRef origin = graph.origin(graph.node(id).outputs[0]))
      names.insert(origin->sources.begin(), origin->sources.end());
  }
  return names;
}

std::string take_name(std::set<std::string>& taken, std::string_view name) {
  std::string unique(name);
  for (int count = 2; !taken.insert(unique).second; ++count) unique = str(name, " (", count, ')');
  return unique;
}

}  // namespace kiln::ir
