#include "onnx/node_origins.h"

#include <string_view>
#include <unordered_map>

namespace kiln::onnx {

std::vector<int64_t> node_origins(const GraphDef& given, const GraphDef& flat) {
  std::unordered_map<std::string_view, int64_t> of_value;
  for (size_t i = 0; i < given.nodes.size(); ++i)
    for (const std::string_view output : given.nodes[i].outputs)
      if (!output.empty()) of_value[output] = static_cast<int64_t>(i);
  std::vector<int64_t> result(flat.nodes.size(), kNoOrigin);
  for (size_t i = flat.nodes.size(); i-- > 0;) {  // users first
    for (const std::string_view output : flat.nodes[i].outputs)
      if (const auto found = of_value.find(output); found != of_value.end()) result[i] = found->second;
    if (result[i] == kNoOrigin) continue;
    for (const std::string_view input : flat.nodes[i].inputs) of_value.try_emplace(input, result[i]);
  }
  return result;
}

void renumber_as_given(std::span<const int64_t> origins, std::span<Problem> problems) {
  for (Problem& problem : problems)
    if (problem.node >= 0) problem.node = static_cast<int>(origins[static_cast<size_t>(problem.node)]);
}

}  // namespace kiln::onnx
