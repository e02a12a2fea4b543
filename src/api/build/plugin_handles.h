/// Handles of cuDNN and cuBLAS for the plugins of a network, while it is built.
#pragma once

#include "api/build/builder_config.h"
#include "device/device.h"
#include "ir/graph.h"

namespace kiln::api {

/// Tells plugins of version 2, also those in bodies, which handles their copies get: those of the config's tactic
/// sources. The log hears of those that are null.
void give_plugin_handles(const ir::Graph& graph, const BuilderConfig& config, Device& device, Log& log);

}  // namespace kiln::api
