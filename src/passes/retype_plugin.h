/// Conversions around a plugin, whose tensors get other types than the network's.
#pragma once

#include <functional>
#include <span>

#include "ir/graph.h"
#include "ops/plugin_object.h"

namespace kiln::passes {

/// Adds what converts a value: tensor `index` of the plugin, inputs first.
using ConvertTensor = std::function<Result<ir::ValueId>(ir::ValueId value, size_t index)>;

/// The plugin's node gets tensors of the types of `tensors`, inputs first. `to` converts what the network has for an
/// input of another type, and `back` what the plugin makes. What reads the node's outputs stays stale (Graph::infer).
Status retype_plugin(ir::Graph& graph, ir::NodeId id, std::span<const PluginTensor> tensors, const ConvertTensor& to,
                     const ConvertTensor& back);

}  // namespace kiln::passes
