/// IPluginV3 with its parts of version one, as the compiler and the runtime see plugins.
#pragma once

#include <NvInferRuntime.h>

#include "ops/plugin_object.h"
#include "plugin/services.h"

namespace kiln::plugin {

/// Takes ownership of `plugin`, which may not be null, also where it fails: for a plugin without the parts that the
/// phase needs, or with parts of other interfaces. `services` outlive what is made.
Result<std::shared_ptr<const PluginObject>> adopt_v3(nvinfer1::IPluginV3* plugin, nvinfer1::TensorRTPhase phase,
                                                     const Services& services);

/// The plugin behind an object of `adopt_v3`; null behind another.
nvinfer1::IPluginV3* v3_plugin_of(const PluginObject& object);

}  // namespace kiln::plugin
