#include "onnx/free_names.h"

#include <algorithm>
#include <set>

namespace kiln::onnx {

const std::vector<std::string_view>& free_names(const GraphDef& graph, FreeNames& known) {
  const auto [entry, is_new] = known.try_emplace(&graph);
  std::vector<std::string_view>& names = entry->second;
  if (!is_new) return names;
  std::set<std::string_view> own;
  const auto read = [&](std::string_view name) {
    if (!name.empty() && !own.contains(name) && std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const ValueInfo& input : graph.inputs) own.insert(input.name);
  for (const TensorDef& tensor : graph.initializers) own.insert(tensor.name);
  for (const NodeDef& node : graph.nodes) {
    std::ranges::for_each(node.inputs, read);
    for (const AttributeDef& attribute : node.attributes)
      for (const auto& inner : attribute.graphs) std::ranges::for_each(free_names(*inner, known), read);
    own.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const ValueInfo& output : graph.outputs) read(output.name);
  return names;
}

}  // namespace kiln::onnx
