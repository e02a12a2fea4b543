#include "onnx/topological_order.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace kiln::onnx {
namespace {

using Names = std::unordered_set<std::string_view>;

/// Calls `use` with each name that `graph` takes from the graphs around it.
template <class Use>
void for_each_free_name(const GraphDef& graph, const Use& use) {
  Names own;
  for (const ValueInfo& input : graph.inputs) own.insert(input.name);
  for (const TensorDef& tensor : graph.initializers) own.insert(tensor.name);
  for (const NodeDef& node : graph.nodes) own.insert(node.outputs.begin(), node.outputs.end());
  const std::function<void(std::string_view)> use_free = [&](std::string_view name) {
    if (!own.contains(name)) use(name);
  };
  for (const ValueInfo& output : graph.outputs) use_free(output.name);
  for (const NodeDef& node : graph.nodes) {
    for (const std::string_view input : node.inputs) use_free(input);
    for (const AttributeDef& attribute : node.attributes)
      for (const auto& body : attribute.graphs) for_each_free_name(*body, use_free);
  }
}

/// For each node, the nodes that it waits for, each once and in ascending order.
std::vector<std::vector<size_t>> dependencies(const GraphDef& graph) {
  std::unordered_map<std::string_view, size_t> maker;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (const std::string_view output : graph.nodes[n].outputs)
      if (!output.empty()) maker.emplace(output, n);
  std::vector<std::vector<size_t>> result(graph.nodes.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const std::function<void(std::string_view)> use = [&](std::string_view name) {
      if (const auto found = maker.find(name); found != maker.end()) result[n].push_back(found->second);
    };
    for (const std::string_view input : graph.nodes[n].inputs) use(input);
    for (const AttributeDef& attribute : graph.nodes[n].attributes)
      for (const auto& body : attribute.graphs) for_each_free_name(*body, use);
    std::sort(result[n].begin(), result[n].end());
    result[n].erase(std::unique(result[n].begin(), result[n].end()), result[n].end());
  }
  return result;
}

std::unexpected<Error> cycle_error(const GraphDef& graph, const std::vector<size_t>& path, size_t again) {
  constexpr size_t kMaxShown = 16;
  const auto first = std::find(path.begin(), path.end(), again);
  std::string text;
  for (auto at = first; at != path.end(); ++at) {
    if (static_cast<size_t>(at - first) == kMaxShown) {
      text += str("... ", path.end() - at, " more -> ");
      break;
    }
    text += str(graph.nodes[*at], " -> ");
  }
  return error(Code::kCorrupt, "nodes wait for each other in a cycle: ", text, graph.nodes[again]);
}

/// Depth first along the dependencies, without recursion: a chain of a million nodes is a valid model.
class Visit {
 public:
  explicit Visit(const GraphDef& graph) : graph_(graph), waits_for_(dependencies(graph)) {}

  Result<std::vector<size_t>> run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) TRY(from(n));
    return std::move(order_);
  }

 private:
  enum class Mark : uint8_t { kNew, kOpen, kDone };

  Status from(size_t start) {
    if (marks_[start] == Mark::kDone) return {};
    std::vector<size_t> path{start};
    marks_[start] = Mark::kOpen;
    while (!path.empty()) {
      const size_t n = path.back();
      if (next_[n] == waits_for_[n].size()) {
        marks_[n] = Mark::kDone;
        order_.push_back(n);
        path.pop_back();
        continue;
      }
      const size_t before = waits_for_[n][next_[n]++];
      if (marks_[before] == Mark::kOpen) return cycle_error(graph_, path, before);
      if (marks_[before] == Mark::kDone) continue;
      marks_[before] = Mark::kOpen;
      path.push_back(before);
    }
    return {};
  }

  const GraphDef& graph_;
  std::vector<std::vector<size_t>> waits_for_;
  std::vector<size_t> next_ = std::vector<size_t>(graph_.nodes.size());
  std::vector<Mark> marks_ = std::vector<Mark>(graph_.nodes.size(), Mark::kNew);
  std::vector<size_t> order_;
};

}  // namespace

Result<std::vector<size_t>> topological_order(const GraphDef& graph) { return Visit(graph).run(); }

}  // namespace kiln::onnx
