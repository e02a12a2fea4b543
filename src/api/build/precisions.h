/// ILayer::setPrecision and setOutputType in a build.
#pragma once

#include "api/build/builder_config.h"
#include "api/build/network.h"

namespace kiln::api {

/// Gives the nodes of `graph`, a copy of the network's, the precisions of their layers (ir/precision.h), and casts
/// where an output's type was set. What cannot be had is an error with BuilderFlag::kOBEY_PRECISION_CONSTRAINTS, a
/// warning with kPREFER_PRECISION_CONSTRAINTS and a verbose message else; each names layer and reason. Node ids are
/// still those of the network.
Status apply_precisions(const Network& network, const BuilderConfig& config, ir::Graph& graph);

}  // namespace kiln::api
