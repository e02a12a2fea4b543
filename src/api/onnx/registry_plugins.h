/// Plugins of the builder's registry, as the importer looks for them.
#pragma once

#include "api/base/network_handle.h"
#include "onnx/plugin_source.h"

namespace kiln::api {

class RegistryPlugins final : public onnx::PluginSource {
 public:
  /// For nodes of a network, whose flags say which form quick plugins have.
  explicit RegistryPlugins(NetworkHandle& network)
      : network_(network), registry_(network.getBuilder().getPluginRegistry()) {}
  bool knows(const PluginIdentity& identity) override;
  Result<std::vector<PluginFieldDescription>> attributes_of(const PluginIdentity& identity) override;
  Result<ops::Plugin> make(const onnx::PluginNode& node) override;
  bool needs_int32(const ops::Plugin& made, std::span<const DType> before) override;

 private:
  Result<nvinfer1::IPluginCreatorInterface*> creator_of(const PluginIdentity& identity) const;
  NetworkHandle& network_;
  nvinfer1::IPluginRegistry& registry_;
};

}  // namespace kiln::api
