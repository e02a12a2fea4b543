#include "plugin/creators.h"

#include <algorithm>

#include "plugin/fields.h"
#include "plugin/v2_plugin.h"
#include "plugin/v3_plugin.h"

namespace kiln::plugin {
namespace {

namespace nv = nvinfer1;

constexpr std::string_view kV3Creator = "PLUGIN CREATOR_V3ONE", kV2Creator = "PLUGIN CREATOR_V1",
                           kQuickCreator = "PLUGIN CREATOR_V3QUICK";

/// Those of the attributes that a creator names: TensorRT hands it no others.
std::vector<PluginField> fields_of(const nv::PluginFieldCollection* names, std::span<const PluginField> attributes) {
  std::vector<PluginField> fields;
  if (!names || !names->fields) return fields;
  for (int32_t i = 0; i < names->nbFields; ++i) {
    const char* const name = names->fields[i].name;
    const auto found = std::ranges::find(attributes, std::string_view(name ? name : ""), &PluginField::name);
    if (found != attributes.end()) fields.push_back(*found);
  }
  return fields;
}

/// The plugin that a creator of either kind makes of fields. `Creator` names them, and `make` calls its createPlugin.
template <class Creator, class Make>
auto make_of(nv::IPluginCreatorInterface& creator, std::span<const PluginField> attributes, Make make) {
  auto& known = static_cast<Creator&>(creator);
  const std::vector<PluginField> fields = fields_of(known.getFieldNames(), attributes);
  const FieldCollection collection(fields);
  return make(known, collection.collection());
}

Result<std::shared_ptr<const PluginObject>> create_v3(nv::IPluginCreatorInterface& creator,
                                                      const PluginIdentity& plugin, const std::string& layer,
                                                      std::span<const PluginField> attributes,
                                                      const Services& services) {
  constexpr auto kPhase = nv::TensorRTPhase::kBUILD;
  nv::IPluginV3* const made = make_of<nv::IPluginCreatorV3One>(
      creator, attributes,
      [&](auto& known, const auto& fields) { return known.createPlugin(layer.c_str(), &fields, kPhase); });
  if (!made) return error(Code::kInvalidArgument, plugin, ": createPlugin returned null for the node's attributes");
  return adopt_v3(made, kPhase, services);
}

Result<std::shared_ptr<const PluginObject>> create_quick(nv::IPluginCreatorInterface& creator,
                                                         const PluginIdentity& plugin,
                                                         std::span<const PluginField> attributes,
                                                         const Services& services) {
  constexpr auto kPhase = nv::TensorRTPhase::kBUILD;  // the name is the plugin's, by which Python finds its functions
  nv::IPluginV3* const made =
      make_of<nv::IPluginCreatorV3Quick>(creator, attributes, [&](auto& known, const auto& fields) {
        return known.createPlugin(plugin.name.c_str(), plugin.plugin_namespace.c_str(), &fields, kPhase, kQuickRequest);
      });
  if (!made) return error(Code::kInvalidArgument, plugin, ": createPlugin returned null for the node's attributes");
  return adopt_v3(made, kPhase, services);
}

Result<std::shared_ptr<const PluginObject>> create_v2(nv::IPluginCreatorInterface& creator,
                                                      const PluginIdentity& plugin, const std::string& layer,
                                                      std::span<const PluginField> attributes,
                                                      const Services& services) {
  nv::IPluginV2* const made = make_of<nv::IPluginCreator>(
      creator, attributes, [&](auto& known, const auto& fields) { return known.createPlugin(layer.c_str(), &fields); });
  if (!made) return error(Code::kInvalidArgument, plugin, ": createPlugin returned null for the node's attributes");
  made->setPluginNamespace(plugin.plugin_namespace.c_str());
  return adopt_v2(made, nv::TensorRTPhase::kBUILD, services);
}

}  // namespace

nv::IPluginCreatorInterface* find_creator(nv::IPluginRegistry& registry, const PluginIdentity& plugin) {
  return registry.getCreator(plugin.name.c_str(), plugin.version.c_str(), plugin.plugin_namespace.c_str());
}

Result<PluginGeneration> generation_of(nv::IPluginCreatorInterface& creator, const PluginIdentity& plugin) {
  const nv::InterfaceInfo info = creator.getInterfaceInfo();
  const std::string_view kind = info.kind ? info.kind : "";
  if (kind == kV3Creator) return PluginGeneration::kV3;
  if (kind == kV2Creator) return PluginGeneration::kV2;
  if (kind == kQuickCreator) return PluginGeneration::kQuick;
  return error(Code::kUnsupported, "the creator of ", plugin, " is of interface '", kind, "'; '", kV3Creator, "', '",
               kV2Creator, "' or '", kQuickCreator, "' is needed");
}

Result<ops::Plugin> create_plugin(nv::IPluginCreatorInterface& creator, const PluginIdentity& plugin,
                                  std::string_view layer, std::span<const PluginField> attributes,
                                  const Services& services) {
  const std::string name(layer);
  std::shared_ptr<const PluginObject> object;
  switch (TRY(generation_of(creator, plugin))) {
    case PluginGeneration::kV3: object = TRY(create_v3(creator, plugin, name, attributes, services)); break;
    case PluginGeneration::kQuick: object = TRY(create_quick(creator, plugin, attributes, services)); break;
    case PluginGeneration::kV2: object = TRY(create_v2(creator, plugin, name, attributes, services)); break;
  }
  return ops::Plugin{.plugin = object->identity(), .fields = {}, .num_tensors = 0, .object = object};
}

}  // namespace kiln::plugin
