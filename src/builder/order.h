/// The order in which a block's steps run.
#pragma once

#include <vector>

#include "tactics/cover.h"

namespace kiln {

/// Puts tiles that are in execution order into one where sizes that data decides are waited for as seldom as can be:
/// first all that waits for none, then all that waits for sizes of those, and so on. Each of these keeps its order, as
/// a graph without such sizes does. What runs earlier than it did may lie in memory for longer, so the plan's arena may
/// become larger.
void order_by_sizes(const ir::Graph& graph, std::vector<Tile>& tiles);

}  // namespace kiln
