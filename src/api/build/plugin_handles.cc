#include "api/build/plugin_handles.h"

#include <vector>

#include "api/run/library_handles.h"
#include "ops/plugin.h"
#include "plugin/v2_plugin.h"

namespace kiln::api {
namespace {

void collect_old_plugins(const ir::Graph& graph, std::vector<const PluginObject*>& found) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    const auto* plugin = graph.node(id).op.as<ops::Plugin>();
    if (plugin && plugin->object && plugin::v2_plugin_of(*plugin->object)) found.push_back(plugin->object.get());
    for (const auto& body : graph.node(id).bodies) collect_old_plugins(*body, found);
  }
}

}  // namespace

void give_plugin_handles(const ir::Graph& graph, const BuilderConfig& config, Device& device, Log& log) {
  std::vector<const PluginObject*> plugins;
  collect_old_plugins(graph, plugins);
  if (plugins.empty()) return;
  const plugin::MakeLibraryHandles make = library_handles(device, config.getTacticSources(), log);
  for (const PluginObject* plugin : plugins) plugin::give_handles(*plugin, make);
}

}  // namespace kiln::api
