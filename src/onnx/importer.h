/// Imports an ONNX model as a graph of our ops.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "ir/graph.h"
#include "onnx/model.h"
#include "onnx/plugin_source.h"
#include "onnx/problem.h"

namespace kiln::onnx {

struct ImportReport {
  std::vector<Problem> errors;  ///< all that was found, not only the first
  std::vector<std::string> warnings;
};

struct ImportOptions {
  /// Weights stay where the model's bytes are, where an owner keeps those alive; with this they are always copied.
  bool copy_weights = false;
  PluginSource* plugins = nullptr;  ///< for operators that no importer takes; null: there are none
  bool prefers_plugins = false;     ///< asks for a plugin first
};

/// Adds the model's inputs, nodes and outputs to `graph`, after inlining functions and checking names, order and
/// versions. Values have their ONNX names; nodes have the names of the ONNX nodes they came from and, as provenance,
/// "Conv 'conv1'". Extents of one name are one symbol; small integer inputs get symbolic values.
/// On failure the error is the first problem, `report` has all, and the graph holds part of the network.
Status import_model(std::shared_ptr<const Model> model, ir::Graph& graph, const ImportOptions& options,
                    ImportReport& report);

/// Whether Kiln has an importer for an operator of a domain, whatever its types and attributes.
bool has_importer(std::string_view domain, std::string_view op_type);

/// A run of nodes, in topological order, that can all be imported.
struct Subgraph {
  std::vector<int64_t> nodes;  ///< indices into the main graph of the model as given
};
struct ModelSupport {
  /// Between two of them stands a node that cannot be imported, or that reads an input of the model which cannot. Empty
  /// where the model as a whole is at fault.
  std::vector<Subgraph> subgraphs;
  ImportReport report;
  bool supported() const { return report.errors.empty(); }
};
/// Where a node fails, what follows is tried with the types that the model states for the values between. A node behind
/// it whose types are not stated counts as one that can be imported if its operator can.
ModelSupport query_support(std::shared_ptr<const Model> model, const ImportOptions& options = {});

}  // namespace kiln::onnx
