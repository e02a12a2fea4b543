/// Plugins of a registry, as the importer looks for them.
#pragma once

#include <NvInfer.h>

#include "api/base/report.h"
#include "onnx/plugin_source.h"

namespace kiln::api {

class RegistryPlugins final : public onnx::PluginSource {
 public:
  /// For nodes of a network, whose flags say which form quick plugins have.
  RegistryPlugins(nvinfer1::INetworkDefinition& network, const Reporter& reporter)
      : network_(network), registry_(network.getBuilder().getPluginRegistry()), reporter_(reporter) {}
  bool knows(const PluginIdentity& identity) override;
  Result<ops::Plugin> make(const onnx::PluginNode& node) override;

 private:
  nvinfer1::INetworkDefinition& network_;
  nvinfer1::IPluginRegistry& registry_;
  const Reporter& reporter_;
};

}  // namespace kiln::api
