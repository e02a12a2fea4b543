/// The parts of plugins of version 3, told apart by their kinds.
#pragma once

#include <NvInferRuntime.h>

#include <string_view>

#include "base/error.h"

namespace kiln::plugin {

constexpr const char* kV3Core = "PLUGIN_V3ONE_CORE";
constexpr const char* kQuickCore = "PLUGIN_V3QUICK_CORE";

/// The kind of a part, which the API forbids to override; empty: there is no such part.
inline std::string_view kind_of(const nvinfer1::IPluginCapability* part) {
  const char* const kind = part ? part->getInterfaceInfo().kind : nullptr;
  return kind ? kind : "";
}

/// The part as its class, if it is of that kind; else null.
template <class Part>
Part* part_as(nvinfer1::IPluginCapability* part, std::string_view kind) {
  return kind_of(part) == kind ? static_cast<Part*>(part) : nullptr;
}

/// The part of a plugin for `type`, null where it has none. Fails for a part of another kind.
template <class Part>
Result<Part*> part_of(nvinfer1::IPluginV3& plugin, nvinfer1::PluginCapabilityType type, std::string_view kind) {
  nvinfer1::IPluginCapability* const part = plugin.getCapabilityInterface(type);
  Part* const known = part_as<Part>(part, kind);
  if (part && !known)
    return error(Code::kUnsupported, "its part is of interface '", kind_of(part), "'; '", kind, "' is needed");
  return known;
}

}  // namespace kiln::plugin
