#include "api/onnx/registry_plugins.h"

#include <algorithm>
#include <cstring>

#include "api/run/plugin_services.h"
#include "plugin/creators.h"

namespace kiln::api {

namespace nv = nvinfer1;

namespace {

constexpr std::string_view kAheadOfTime = "aot";  ///< an attribute of quick plugins' nodes

/// The form that a quick plugin is asked for: what the node's attribute "aot" says, else what the network prefers.
Result<nv::QuickPluginCreationRequest> request_of(std::span<const PluginField> attributes,
                                                  const nv::INetworkDefinition& network) {
  using Request = nv::QuickPluginCreationRequest;
  using Flag = nv::NetworkDefinitionCreationFlag;
  const auto own = std::ranges::find(attributes, kAheadOfTime, &PluginField::name);
  if (own != attributes.end()) {
    TRY(require(own->type == PluginFieldType::kI32 && own->count == 1, "attribute 'aot' is ", own->count,
                " values of type ", own->type, "; one integer is needed"));
    int32_t is_aot = 0;
    std::memcpy(&is_aot, own->data.data(), sizeof is_aot);
    return is_aot ? Request::kSTRICT_AOT : Request::kSTRICT_JIT;
  }
  const bool aot = network.getFlag(Flag::kPREFER_AOT_PYTHON_PLUGINS);
  const bool jit = network.getFlag(Flag::kPREFER_JIT_PYTHON_PLUGINS);
  TRY(require(!aot || !jit, "the network has both of kPREFER_AOT_PYTHON_PLUGINS and kPREFER_JIT_PYTHON_PLUGINS"));
  return aot ? Request::kPREFER_AOT : jit ? Request::kPREFER_JIT : Request::kUNKNOWN;
}

}  // namespace

bool RegistryPlugins::knows(const PluginIdentity& identity) {
  return plugin::find_creator(registry_, identity) != nullptr;
}

Result<nv::IPluginCreatorInterface*> RegistryPlugins::creator_of(const PluginIdentity& identity) const {
  nv::IPluginCreatorInterface* const creator = plugin::find_creator(registry_, identity);
  if (!creator) return error(Code::kNotFound, "no creator of ", identity, " is registered any more");
  return creator;
}

Result<std::vector<PluginFieldDescription>> RegistryPlugins::attributes_of(const PluginIdentity& identity) {
  nv::IPluginCreatorInterface* const creator = TRY(creator_of(identity));
  std::vector<PluginFieldDescription> result = TRY(plugin::field_descriptions(*creator, identity));
  if (TRY(plugin::generation_of(*creator, identity)) == PluginGeneration::kQuick)
    result.push_back({std::string(kAheadOfTime), PluginFieldType::kI32});
  return result;
}

Result<ops::Plugin> RegistryPlugins::make(const onnx::PluginNode& node) {
  nv::IPluginCreatorInterface* const creator = TRY(creator_of(node.identity));
  auto request = nv::QuickPluginCreationRequest::kUNKNOWN;
  if (TRY(plugin::generation_of(*creator, node.identity)) == PluginGeneration::kQuick)
    request = TRY(in_context(request_of(node.attributes, network_), [&] { return str(node.identity); }));
  const plugin::Services services = TRY(plugin_services(network_.reporter(), network_.gpu_allocator()));
  return plugin::create_plugin(*creator, node.identity, node.layer, node.attributes, request, services);
}

bool RegistryPlugins::needs_int32(const ops::Plugin& made, std::span<const DType> before) {
  return network_.needs_int32(made, before);
}

}  // namespace kiln::api
