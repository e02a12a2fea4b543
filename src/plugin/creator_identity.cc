#include "plugin/creator_identity.h"

#include <impl/NvInferPythonPlugin.h>

namespace kiln::plugin {

std::string_view interface_name(CreatorKind kind) {
  switch (kind) {
    case CreatorKind::kV1: return "PLUGIN CREATOR_V1";
    case CreatorKind::kV3One: return "PLUGIN CREATOR_V3ONE";
    case CreatorKind::kV3Quick: return "PLUGIN CREATOR_V3QUICK";
    case CreatorKind::kUnknown: break;
  }
  return "";
}

std::string_view interface_name(const nvinfer1::IPluginCreatorInterface& creator) {
  const char* const kind = creator.getInterfaceInfo().kind;
  return kind ? kind : "";
}

CreatorKind kind_of(const nvinfer1::IPluginCreatorInterface& creator) {
  const std::string_view text = interface_name(creator);
  for (const CreatorKind kind : {CreatorKind::kV1, CreatorKind::kV3One, CreatorKind::kV3Quick})
    if (text == interface_name(kind)) return kind;
  return CreatorKind::kUnknown;
}

CreatorIdentity identity_of(const nvinfer1::IPluginCreatorInterface& creator) {
  const auto ask = [](const auto& known) {
    return CreatorIdentity{known.getPluginName(), known.getPluginVersion(), known.getPluginNamespace()};
  };
  switch (kind_of(creator)) {
    case CreatorKind::kV1: return ask(static_cast<const nvinfer1::IPluginCreator&>(creator));
    case CreatorKind::kV3One: return ask(static_cast<const nvinfer1::IPluginCreatorV3One&>(creator));
    case CreatorKind::kV3Quick: return ask(static_cast<const nvinfer1::IPluginCreatorV3Quick&>(creator));
    case CreatorKind::kUnknown: break;
  }
  return {};
}

}  // namespace kiln::plugin
