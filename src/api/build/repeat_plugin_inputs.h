/// Inputs of plugins that know one batch for all of their tensors.
#pragma once

#include "ir/graph.h"

namespace kiln::api {

/// Repeats each input of batch 1 that a plugin of version 2 with a hidden batch reads beside longer ones, in the graph
/// and in its bodies: `enqueue` is told one batch, and reads as many samples of each input.
Status repeat_plugin_inputs(ir::Graph& graph);

}  // namespace kiln::api
