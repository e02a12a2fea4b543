/// Outputs of plugins that have the memory of inputs.
#pragma once

#include "base/log.h"
#include "ir/graph.h"

namespace kiln::api {

/// Asks the plugins of a graph and of its bodies which of their outputs have the memory of an input, and keeps that in
/// their ops. Fails, naming layer and plugin, for an input that there is not or that two outputs would have, or whose
/// type or shape is another than the output's.
Status alias_plugins(ir::Graph& graph);
/// Without the feature that lets them: tells which plugins want that memory. Each of their outputs has memory of its
/// own, without the input's numbers, which only some of them expect.
void warn_of_aliases(const ir::Graph& graph, Log& log);

}  // namespace kiln::api
