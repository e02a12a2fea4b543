/// Plugins of version 2 as the compiler and the runtime see plugins: IPluginV2DynamicExt, IPluginV2IOExt, IPluginV2Ext.
#pragma once

#include <NvInferRuntime.h>

#include "ops/plugin_object.h"
#include "plugin/services.h"

namespace kiln::plugin {

/// Takes ownership of `plugin`, which may not be null, also where it fails: for an IPluginV2 that is no more than that,
/// and for a plugin of an interface that Kiln does not know. In the phase kRUNTIME the plugin is initialized as well.
/// `services` outlive what is made.
Result<std::shared_ptr<const PluginObject>> adopt_v2(nvinfer1::IPluginV2* plugin, nvinfer1::TensorRTPhase phase,
                                                     const Services& services);

/// The plugin behind an object of `adopt_v2`; null behind another.
nvinfer1::IPluginV2* v2_plugin_of(const PluginObject& object);

}  // namespace kiln::plugin
