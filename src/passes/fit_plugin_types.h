/// Casts around plugins that compute in other types than the network.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// A plugin that takes its tensors in no format gets floats of other types, where it takes those: casts stand around
/// it, as a warning says. In strongly typed graphs types stay, and the build says what the plugin refuses.
Status fit_plugin_types(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
