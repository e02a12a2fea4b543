/// A network and a configuration as the builder below the API takes them.
#pragma once

#include "api/build/builder_config.h"
#include "api/build/network.h"
#include "builder/build.h"

namespace kiln::api {

/// A copy of the network's graph that is ready to be built: nodes know which layers they are, outputs have the types
/// that setType and setOutputType asked for, layers have their precisions, loops and conditionals are nodes with
/// bodies, all types are inferred.
Result<ir::Graph> graph_to_build(Network& network, const BuilderConfig& config);

/// Fails as `check_choices` does. Progress and the timing cache are the caller's.
Result<BuildRequest> request_of(Network& network, BuilderConfig& config);

}  // namespace kiln::api
