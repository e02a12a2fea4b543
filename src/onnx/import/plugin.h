/// Nodes that a plugin computes.
#pragma once

#include "onnx/import/context.h"
#include "onnx/plugin_source.h"

namespace kiln::onnx {

/// The plugin that a node asks for (its operator, and the attributes plugin_version, else "1", and plugin_namespace,
/// else ""), where `source` knows it. A source that is null knows none.
Result<std::optional<PluginIdentity>> known_plugin(const NodeDef& node, PluginSource* source);
/// Fails, for a node that neither an importer nor a plugin takes.
Status no_importer(const NodeDef& node, PluginSource* source);
/// Adds the node as a plugin of `source`, which knows it. Attributes are fields; tensorrt_plugin_shape_input_indices
/// tells which inputs are shape inputs.
Status import_plugin(ImportContext& cx, const PluginIdentity& identity, PluginSource& source);

}  // namespace kiln::onnx
