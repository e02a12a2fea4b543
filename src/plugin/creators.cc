#include "plugin/creators.h"

#include <algorithm>

#include "plugin/creator_identity.h"
#include "plugin/failure_scope.h"
#include "plugin/fields.h"
#include "plugin/v2_plugin.h"
#include "plugin/v3_plugin.h"

namespace kiln::plugin {
namespace {

namespace nv = nvinfer1;

/// The fields in a creator's list, with their types.
std::vector<PluginFieldDescription> described_in(const nv::PluginFieldCollection* list) {
  std::vector<PluginFieldDescription> result;
  for (int32_t i = 0; list && list->fields && i < list->nbFields; ++i)
    if (const nv::PluginField& field = list->fields[i]; field.name)
      result.push_back({field.name, static_cast<PluginFieldType>(field.type)});
  return result;
}

/// The attributes that a creator names, in its order: TensorRT hands it no others.
std::vector<PluginField> fields_of(std::span<const PluginFieldDescription> named,
                                   std::span<const PluginField> attributes) {
  std::vector<PluginField> fields;
  for (const PluginFieldDescription& one : named) {
    const auto found = std::ranges::find(attributes, one.name, &PluginField::name);
    if (found != attributes.end()) fields.push_back(*found);
  }
  return fields;
}

Error made_none(const Creation& asked, const char* call) {
  if (asked.phase == nv::TensorRTPhase::kBUILD)
    return {Code::kInvalidArgument, str(asked.plugin, ": ", call, " returned null for the node's attributes")};
  return {Code::kDevice, str(asked.plugin, ": ", call, " returned null for the fields of the plan")};
}

/// Makes a plugin of version 2 of what it serialized, which is what a plan has of it.
Result<nv::IPluginV2*> deserialized(nv::IPluginCreator& creator, const Creation& asked) {
  if (asked.fields.size() != 1)
    return error(Code::kCorrupt, asked.plugin, ": the plan has ", asked.fields.size(),
                 " fields of it; a plugin of version 2 has one, which is what it serialized");
  const Bytes& bytes = asked.fields[0].data;
  nv::IPluginV2* const made = creator.deserializePlugin(asked.layer.c_str(), bytes.data(), bytes.size());
  if (!made)
    return error(Code::kDevice, asked.plugin, ": deserializePlugin returned null for the ", bytes.size(),
                 " bytes of the plan");
  return made;
}

Result<std::shared_ptr<const PluginObject>> created(nv::IPluginCreatorInterface& creator, const Creation& asked) {
  const FieldCollection fields(asked.fields);
  const PluginGeneration generation = TRY(generation_of(creator, asked.plugin));
  if (generation == PluginGeneration::kV2) {
    auto& old = static_cast<nv::IPluginCreator&>(creator);
    nv::IPluginV2* const made = asked.phase == nv::TensorRTPhase::kBUILD
                                    ? old.createPlugin(asked.layer.c_str(), &fields.collection())
                                    : TRY(deserialized(old, asked));
    if (!made) return std::unexpected(made_none(asked, "createPlugin"));
    return adopt_v2(made, asked.phase, asked.services,
                    std::make_shared<const std::string>(asked.plugin.plugin_namespace));
  }
  nv::IPluginV3* made = nullptr;
  if (generation == PluginGeneration::kV3)
    made = static_cast<nv::IPluginCreatorV3One&>(creator).createPlugin(asked.layer.c_str(), &fields.collection(),
                                                                       asked.phase);
  else  // the name is the plugin's, by which Python finds its functions
    made = static_cast<nv::IPluginCreatorV3Quick&>(creator).createPlugin(
        asked.plugin.name.c_str(), asked.plugin.plugin_namespace.c_str(), &fields.collection(), asked.phase,
        asked.request);
  if (!made) return std::unexpected(made_none(asked, "createPlugin"));
  return adopt_v3(made, asked.phase, asked.services);
}

}  // namespace

nv::IPluginCreatorInterface* find_creator(nv::IPluginRegistry& registry, const PluginIdentity& plugin) {
  return registry.getCreator(plugin.name.c_str(), plugin.version.c_str(), plugin.plugin_namespace.c_str());
}

Result<PluginGeneration> generation_of(nv::IPluginCreatorInterface& creator, const PluginIdentity& plugin) {
  switch (kind_of(creator)) {
    case CreatorKind::kV3One: return PluginGeneration::kV3;
    case CreatorKind::kV1: return PluginGeneration::kV2;
    case CreatorKind::kV3Quick: return PluginGeneration::kQuick;
    case CreatorKind::kUnknown: break;
  }
  return error(Code::kUnsupported, "the creator of ", plugin, " is of interface '", interface_name(creator), "'; '",
               interface_name(CreatorKind::kV3One), "', '", interface_name(CreatorKind::kV1), "' or '",
               interface_name(CreatorKind::kV3Quick), "' is needed");
}

Result<std::vector<PluginFieldDescription>> field_descriptions(nv::IPluginCreatorInterface& creator,
                                                               const PluginIdentity& plugin) {
  switch (TRY(generation_of(creator, plugin))) {
    case PluginGeneration::kV3: return described_in(static_cast<nv::IPluginCreatorV3One&>(creator).getFieldNames());
    case PluginGeneration::kQuick:
      return described_in(static_cast<nv::IPluginCreatorV3Quick&>(creator).getFieldNames());
    case PluginGeneration::kV2: break;
  }
  return described_in(static_cast<nv::IPluginCreator&>(creator).getFieldNames());
}

Result<std::shared_ptr<const PluginObject>> create_object(nv::IPluginCreatorInterface& creator, const Creation& asked) {
  const FailureScope failure;
  return failure.explained(created(creator, asked), asked.plugin);
}

Result<ops::Plugin> create_plugin(nv::IPluginCreatorInterface& creator, const PluginIdentity& plugin,
                                  std::string_view layer, std::span<const PluginField> attributes,
                                  nv::QuickPluginCreationRequest request, const Services& services) {
  const std::vector<PluginField> fields = fields_of(TRY(field_descriptions(creator, plugin)), attributes);
  const std::shared_ptr<const PluginObject> object = TRY(create_object(creator, {.plugin = plugin,
                                                                                 .layer = std::string(layer),
                                                                                 .fields = fields,
                                                                                 .phase = nv::TensorRTPhase::kBUILD,
                                                                                 .request = request,
                                                                                 .services = services}));
  return ops::Plugin{.plugin = object->identity(), .fields = {}, .num_tensors = 0, .object = object};
}

}  // namespace kiln::plugin
