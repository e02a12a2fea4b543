#include "plugin/creator_identity.h"

#include <impl/NvInferPythonPlugin.h>

#include <cstring>

namespace kiln::plugin {

CreatorKind kind_of(const nvinfer1::IPluginCreatorInterface& creator) {
  const char* kind = creator.getInterfaceInfo().kind;
  if (!std::strcmp(kind, "PLUGIN CREATOR_V1")) return CreatorKind::kV1;
  if (!std::strcmp(kind, "PLUGIN CREATOR_V3ONE")) return CreatorKind::kV3One;
  if (!std::strcmp(kind, "PLUGIN CREATOR_V3QUICK")) return CreatorKind::kV3Quick;
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
