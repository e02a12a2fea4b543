/// The parts of plugins of version 3, told apart by their kinds.
#pragma once

#include <NvInferRuntime.h>

#include <string_view>

namespace kiln::plugin {

constexpr const char* kV3Core = "PLUGIN_V3ONE_CORE";
constexpr const char* kQuickCore = "PLUGIN_V3QUICK_CORE";

/// The kind of a part, which the API forbids to override; empty: there is no such part.
inline std::string_view kind_of(const nvinfer1::IPluginCapability* part) {
  const char* const kind = part ? part->getInterfaceInfo().kind : nullptr;
  return kind ? kind : "";
}

}  // namespace kiln::plugin
