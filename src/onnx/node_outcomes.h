/// Findings of an import about each node: how query_support looks into the importer.
#pragma once

#include <unordered_map>
#include <vector>

#include "onnx/importer.h"

namespace kiln::onnx {

enum class NodeOutcome : uint8_t {
  kImported,
  kFailed,
  kUnknown  ///< it has an importer, but an input comes from a node that failed
};

class NodeOutcomes {
 public:
  explicit NodeOutcomes(const GraphDef& graph) : outcomes_(graph.nodes.size(), NodeOutcome::kImported) {
    for (const ValueInfo& info : graph.value_infos) stated_[info.name] = &info;
    for (const ValueInfo& info : graph.outputs) stated_[info.name] = &info;
  }
  void set(int node, NodeOutcome outcome) { outcomes_[static_cast<size_t>(node)] = outcome; }
  NodeOutcome of(size_t node) const { return outcomes_[node]; }
  /// The type that the model states for a value; null if it does not.
  const ValueInfo* stated_type(std::string_view value) const {
    const auto found = stated_.find(value);
    return found == stated_.end() ? nullptr : found->second;
  }

 private:
  std::vector<NodeOutcome> outcomes_;
  std::unordered_map<std::string_view, const ValueInfo*> stated_;
};

/// Inlines functions and checks; the problems go to `report`. Fails, with one of them, where nodes mean nothing then.
Result<std::shared_ptr<const Model>> prepare_model(std::shared_ptr<const Model> model, ImportReport& report);

/// Imports a model that was prepared. With `outcomes`, nodes that fail are noted there and replaced by stand-ins.
void import_checked(const Model& model, ir::Graph& graph, const ImportOptions& options, ImportReport& report,
                    NodeOutcomes* outcomes);

}  // namespace kiln::onnx
