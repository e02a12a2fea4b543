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
/// Whether an importer of Kiln's takes the node, too.
enum class ImporterOfNode : bool { kNone, kThere };
/// Adds the node as a plugin of `source`, which knows it. Attributes are fields; tensorrt_plugin_shape_input_indices
/// tells which inputs are shape inputs. Where an importer is there, false with a warning if the creator makes no plugin
/// of the node, or does not take an attribute that changes what the operator computes; nothing is added then.
Result<bool> import_plugin(ImportContext& cx, const PluginIdentity& identity, PluginSource& source,
                           ImporterOfNode importer);

}  // namespace kiln::onnx
