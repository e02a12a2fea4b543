/// Requests of a configuration that Kiln does not carry out yet.
#pragma once

#include "api/build/builder_config.h"
#include "api/build/network.h"
#include "base/log.h"
#include "device/device.h"

namespace kiln::api {

/// Fails where going on would give another engine than the one that was asked for, and where flags contradict the
/// network.
Status check_choices(const Network& network, const BuilderConfig& config);

/// Says what was allowed or preferred and is not done, or does nothing in this network; the engine is right without it.
void warn_of_missing_choices(const BuilderConfig& config, const ir::Graph& graph, Device& device, Log& log);

}  // namespace kiln::api
