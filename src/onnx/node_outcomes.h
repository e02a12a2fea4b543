/// Findings of an import about each node: how query_support looks into the importer.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/importer.h"

namespace kiln::onnx {

enum class NodeOutcome : uint8_t {
  kImported,
  kFailed,
  kUnknown  ///< it has an importer, but an input comes from a node that failed, or whose own does
};

class NodeOutcomes {
 public:
  explicit NodeOutcomes(const GraphDef& graph) : outcomes_(graph.nodes.size(), NodeOutcome::kImported) {
    for (const ValueInfo& info : graph.value_infos) stated_[info.name] = &info;
    for (const ValueInfo& info : graph.outputs) stated_[info.name] = &info;
    for (const NodeDef& node : graph.nodes) made_.insert(node.outputs.begin(), node.outputs.end());
  }
  void set(int node, NodeOutcome outcome) { outcomes_[static_cast<size_t>(node)] = outcome; }
  NodeOutcome of(size_t node) const { return outcomes_[node]; }
  /// A node that was not imported. `was_not_tried`: only because values that it reads could not be had, of which
  /// `is_poisoned` tells; where one of these is an input of the model, or an initializer, the node fails with it.
  template <class F>
  void fail(int index, const NodeDef& node, bool was_not_tried, F is_poisoned) {
    const auto is_broken = [&](std::string_view name) {
      return !name.empty() && !made_.contains(name) && is_poisoned(name);
    };
    const bool is_unknown = was_not_tried && std::ranges::none_of(node.inputs, is_broken);
    set(index, is_unknown ? NodeOutcome::kUnknown : NodeOutcome::kFailed);
  }
  /// The type that the model states for a value; null if it does not.
  const ValueInfo* stated_type(std::string_view value) const {
    const auto found = stated_.find(value);
    return found == stated_.end() ? nullptr : found->second;
  }

 private:
  std::vector<NodeOutcome> outcomes_;
  std::unordered_map<std::string_view, const ValueInfo*> stated_;
  std::unordered_set<std::string_view> made_;
};

/// Inlines functions and checks; the problems go to `report`. Fails, with one of them, where nodes mean nothing then.
Result<std::shared_ptr<const Model>> prepare_model(std::shared_ptr<const Model> model, ImportReport& report);

/// Imports a model that was prepared. With `outcomes`, nodes that fail are noted there and replaced by stand-ins.
void import_checked(const Model& model, ir::Graph& graph, const ImportOptions& options, ImportReport& report,
                    NodeOutcomes* outcomes);

}  // namespace kiln::onnx
