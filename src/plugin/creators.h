/// Plugins made by the creators of a registry while a network is defined.
#pragma once

#include <NvInferRuntime.h>
#include <impl/NvInferPythonPlugin.h>

#include <span>
#include <string>
#include <vector>

#include "ops/plugin.h"
#include "plugin/services.h"

namespace kiln::plugin {

/// The creator of a plugin; null where the registry has none.
nvinfer1::IPluginCreatorInterface* find_creator(nvinfer1::IPluginRegistry& registry, const PluginIdentity& plugin);

/// The generation of the plugins that a creator makes. Fails for a creator of an interface that Kiln does not know.
Result<PluginGeneration> generation_of(nvinfer1::IPluginCreatorInterface& creator, const PluginIdentity& plugin);

/// The attributes that a creator takes (getFieldNames). Fails for a creator of an interface that Kiln does not know.
Result<std::vector<PluginFieldDescription>> field_descriptions(nvinfer1::IPluginCreatorInterface& creator,
                                                               const PluginIdentity& plugin);

/// What a creator is asked for.
struct Creation {
  const PluginIdentity& plugin;
  std::string layer;
  std::span<const PluginField> fields;  ///< in a plan those of its step, of which version 2 has one: its bytes
  nvinfer1::TensorRTPhase phase = nvinfer1::TensorRTPhase::kRUNTIME;
  nvinfer1::QuickPluginCreationRequest request = nvinfer1::QuickPluginCreationRequest::kUNKNOWN;
  const Services& services;  ///< outlive the object
};
/// Fails where the creator makes no plugin, or is of an interface that Kiln does not know.
Result<std::shared_ptr<const PluginObject>> create_object(nvinfer1::IPluginCreatorInterface& creator,
                                                          const Creation& asked);

/// The plugin that a creator makes of the attributes that it names, for the layer of that name. Fails
/// where it makes none, or is of an interface that Kiln does not know. `request` is for quick plugins' creators.
/// `services` outlive the op.
Result<ops::Plugin> create_plugin(nvinfer1::IPluginCreatorInterface& creator, const PluginIdentity& plugin,
                                  std::string_view layer, std::span<const PluginField> attributes,
                                  nvinfer1::QuickPluginCreationRequest request, const Services& services);

}  // namespace kiln::plugin
