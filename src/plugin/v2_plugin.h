/// Plugins of version 2 as the compiler and the runtime see plugins: IPluginV2DynamicExt, IPluginV2IOExt, IPluginV2Ext
/// and IPluginV2.
#pragma once

#include <NvInferRuntime.h>

#include <memory>
#include <string>

#include "ops/plugin_object.h"
#include "plugin/services.h"

namespace kiln::plugin {

/// Takes ownership of `plugin`, which may not be null, also where it fails: for a plugin of an interface that Kiln does
/// not know. In the phase kRUNTIME the plugin is initialized as well.
/// `services` outlive what is made. `plugin_namespace`, unless it is null, is told the plugin (setPluginNamespace), and
/// lives as long as it and its copies: some keep the pointer.
Result<std::shared_ptr<const PluginObject>> adopt_v2(nvinfer1::IPluginV2* plugin, nvinfer1::TensorRTPhase phase,
                                                     const Services& services,
                                                     std::shared_ptr<const std::string> plugin_namespace = nullptr);

/// The plugin behind an object of `adopt_v2`; null behind another.
nvinfer1::IPluginV2* v2_plugin_of(const PluginObject& object);

/// Whether a plugin is told its tensors without their first extent, the batch. Some plugins of `adopt_v2` are.
bool has_hidden_batch(const PluginObject& object);

/// From now on `make` gives the handles of the copies that are attached; if it is null, copies get null handles. Does
/// nothing for an object that `adopt_v2` did not make. No other thread may use the plugin during the call.
void give_handles(const PluginObject& object, MakeLibraryHandles make);

}  // namespace kiln::plugin
