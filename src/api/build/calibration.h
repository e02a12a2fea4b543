/// INT8 without Q/DQ in the network: ranges of tensors, from the program or from data.
#pragma once

#include "api/build/builder_config.h"
#include "api/build/network.h"
#include "builder/build.h"
#include "plugin/make_plugins.h"

namespace kiln::api {

/// A build that is about to be done.
struct BuildToCome {
  const ir::Graph& graph;
  Backend& backend;
  const BuildRequest& request;
  const plugin::Makers& makers;  ///< of the plugins of a plan that is run meanwhile
  nv::IGpuAllocator* allocator;  ///< of its memory; null: the device's
};

/// The ranges by which BuilderFlag::kINT8 quantizes: those of ITensor::setDynamicRange, and those that the calibrator's
/// cache has, or its data give, which run through a copy of the network in FP32. None where the flag is not set, the
/// network is strongly typed, or it has Q/DQ of its own; a warning then says what is not heeded. Another one says that
/// the flag does nothing without ranges.
Result<passes::Ranges> int8_ranges(Network& network, BuilderConfig& config, const BuildToCome& build);

}  // namespace kiln::api
