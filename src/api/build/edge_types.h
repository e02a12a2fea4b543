/// Types of inputs and outputs that differ from those which layers take and make.
#pragma once

#include "api/build/builder_config.h"
#include "api/build/network.h"
#include "passes/ranges.h"

namespace kiln::api {

/// Inserts casts behind inputs and in front of outputs of `graph`, the network's copy, whose types setType and
/// setOutputType changed. Readers of an input get the type that they were built for. INT8 beside floats stays for
/// `quantize_edges` where BuilderFlag::kINT8 is set and the network is weakly typed; elsewhere, as for other whole
/// numbers, a warning tells that fractions are lost.
Status cast_edges(Network& network, const BuilderConfig& config, ir::Graph& graph);

/// INT8 inputs and outputs of float tensors stand for numbers of their range: q * range / 127. What has no range is
/// converted as it is, with a warning. `ranges` gets those of the floats behind such inputs.
Status quantize_edges(Network& network, const BuilderConfig& config, ir::Graph& graph, passes::Ranges& ranges);

}  // namespace kiln::api
