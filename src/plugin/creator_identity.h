/// What creators of all interfaces say of themselves.
#pragma once

#include <NvInferRuntime.h>

#include <string_view>

namespace kiln::plugin {

/// The interface whose functions a creator has. getInterfaceInfo tells it for sure, because the API forbids to override
/// that.
enum class CreatorKind { kV1, kV3One, kV3Quick, kUnknown };
CreatorKind kind_of(const nvinfer1::IPluginCreatorInterface& creator);
/// The name that getInterfaceInfo gives a creator's interface; empty where that is null.
std::string_view interface_name(const nvinfer1::IPluginCreatorInterface& creator);
/// The name of the interface of a known kind.
std::string_view interface_name(CreatorKind kind);

/// All null for a creator of an unknown kind.
struct CreatorIdentity {
  const char *name = nullptr, *version = nullptr, *plugin_namespace = nullptr;
};
CreatorIdentity identity_of(const nvinfer1::IPluginCreatorInterface& creator);

}  // namespace kiln::plugin
