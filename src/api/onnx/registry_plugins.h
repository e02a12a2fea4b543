/// Plugins of a registry, as the importer looks for them.
#pragma once

#include <NvInferRuntime.h>

#include "api/base/report.h"
#include "onnx/plugin_source.h"

namespace kiln::api {

class RegistryPlugins final : public onnx::PluginSource {
 public:
  RegistryPlugins(nvinfer1::IPluginRegistry& registry, const Reporter& reporter)
      : registry_(registry), reporter_(reporter) {}
  bool knows(const PluginIdentity& identity) override;
  Result<ops::Plugin> make(const onnx::PluginNode& node) override;

 private:
  nvinfer1::IPluginRegistry& registry_;
  const Reporter& reporter_;
};

}  // namespace kiln::api
