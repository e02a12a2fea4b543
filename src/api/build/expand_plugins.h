/// Plugins of the standard library become the layers that say what they compute.
#pragma once

#include "api/base/private_entry.h"
#include "api/build/network.h"
#include "ops/plugin.h"

namespace kiln::api {

/// Null: all plugins stay plugins. The expander lives as long as the process.
void set_plugin_expander(const KilnExpander* expander);

/// What the expander says for NetworkHandle::needs_int32.
bool plugin_needs_int32(const ops::Plugin& op, std::span<const DType> before);

/// When a build asks for layers.
enum class RangesAre : bool {
  kUnknown,  ///< plugins whose floats may be bytes by ranges stay for the second time
  kKnown     ///< such plugins have bytes now, where ranges gave them
};

/// Replaces each plugin of a network's graph that the expander knows by layers, which are named after the plugin's
/// layer and have its provenance. Fails where an expansion does, naming layer and plugin. Plugins in bodies are
/// replaced at the first time: their layers may make symbols, and those of the network are counted before it is
/// optimized. At the second time a build asks for each body, when the ranges within it are known.
Status expand_plugins(const Network& network, ir::Graph& graph, RangesAre ranges);

}  // namespace kiln::api
