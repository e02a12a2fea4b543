/// Outputs that are updated caches (IKVCacheUpdateLayer).
#pragma once

#include "ir/graph.h"
#include "plan/plan.h"

namespace kiln::api {

/// The inputs of the plan whose memory its outputs may be, by output, -1 for others: where the output is an input that
/// KvCacheUpdate has updated, of one type and format, and nothing else reads the elements of that input. Empty if there
/// are none.
std::vector<int> cache_inputs(const ir::Graph& network, const plan::Plan& plan);

}  // namespace kiln::api
