#include "api/onnx/registry_plugins.h"

#include "api/run/plugin_services.h"
#include "plugin/creators.h"

namespace kiln::api {

bool RegistryPlugins::knows(const PluginIdentity& identity) {
  return plugin::find_creator(registry_, identity) != nullptr;
}

Result<ops::Plugin> RegistryPlugins::make(const onnx::PluginNode& node) {
  nvinfer1::IPluginCreatorInterface* const creator = plugin::find_creator(registry_, node.identity);
  if (!creator) return error(Code::kNotFound, "no creator of ", node.identity, " is registered any more");
  const plugin::Services services = TRY(plugin_services(network_.reporter(), network_.gpu_allocator()));
  return plugin::create_plugin(*creator, node.identity, node.layer, node.attributes, services);
}

}  // namespace kiln::api
