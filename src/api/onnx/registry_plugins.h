/// Plugins of a registry, as the importer looks for them.
#pragma once

#include <NvInferRuntime.h>

#include "onnx/plugin_source.h"

namespace kiln::api {

class RegistryPlugins final : public onnx::PluginSource {
 public:
  explicit RegistryPlugins(nvinfer1::IPluginRegistry& registry) : registry_(registry) {}
  bool knows(const PluginIdentity& identity) override;
  Result<ops::Plugin> make(const onnx::PluginNode& node) override;

 private:
  nvinfer1::IPluginRegistry& registry_;
};

}  // namespace kiln::api
