#include "plugin/creators.h"

#include <algorithm>
#include <cstring>

#include "plugin/fields.h"
#include "plugin/v3_plugin.h"

namespace kiln::plugin {
namespace {

namespace nv = nvinfer1;

/// Those of the attributes that a creator names: TensorRT hands it no others.
std::vector<PluginField> fields_of(nv::IPluginCreatorV3One& creator, std::span<const PluginField> attributes) {
  std::vector<PluginField> fields;
  const nv::PluginFieldCollection* const names = creator.getFieldNames();
  if (!names || !names->fields) return fields;
  for (int32_t i = 0; i < names->nbFields; ++i) {
    const char* const name = names->fields[i].name;
    const auto found = std::ranges::find(attributes, std::string_view(name ? name : ""), &PluginField::name);
    if (found != attributes.end()) fields.push_back(*found);
  }
  return fields;
}

}  // namespace

nv::IPluginCreatorInterface* find_creator(nv::IPluginRegistry& registry, const PluginIdentity& plugin) {
  return registry.getCreator(plugin.name.c_str(), plugin.version.c_str(), plugin.plugin_namespace.c_str());
}

Result<ops::Plugin> create_plugin(nv::IPluginCreatorInterface& creator, const PluginIdentity& plugin,
                                  std::string_view layer, std::span<const PluginField> attributes,
                                  const Services& services) {
  const nv::InterfaceInfo info = creator.getInterfaceInfo();
  if (!info.kind || std::strcmp(info.kind, "PLUGIN CREATOR_V3ONE") != 0)
    return error(Code::kUnsupported, "the creator of ", plugin, " is of interface '", info.kind ? info.kind : "",
                 "'; 'PLUGIN CREATOR_V3ONE' is needed");
  auto& known = static_cast<nv::IPluginCreatorV3One&>(creator);
  const std::vector<PluginField> fields = fields_of(known, attributes);
  const FieldCollection collection(fields);
  nv::IPluginV3* const made =
      known.createPlugin(std::string(layer).c_str(), &collection.collection(), nv::TensorRTPhase::kBUILD);
  if (!made) return error(Code::kInvalidArgument, plugin, ": createPlugin returned null for the node's attributes");
  auto object = TRY(adopt_v3(made, nv::TensorRTPhase::kBUILD, services));
  return ops::Plugin{.plugin = object->identity(), .fields = {}, .num_tensors = 0, .object = object};
}

}  // namespace kiln::plugin
