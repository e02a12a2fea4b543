// libnvinfer_plugin's one function.
#include <NvInferPlugin.h>

#include <map>
#include <mutex>

#include "library/creators.h"
#include "library/engines.h"
#include "library/expander.h"

namespace {

using namespace kiln;
using namespace kiln::plugins;
using Severity = nv::ILogger::Severity;

/// Creators by namespace, which live as long as the process: registries hold them.
struct Registered {
  std::mutex mutex;
  std::map<std::string, std::vector<std::unique_ptr<nv::IPluginCreatorInterface>>> by_namespace;
};

bool register_creator(const Definition& definition, const std::string& plugin_namespace, nv::ILogger& log,
                      std::vector<std::unique_ptr<nv::IPluginCreatorInterface>>& kept) {
  nv::IPluginRegistry& registry = *getPluginRegistry();
  const std::string what = str("standard plugin '", definition.name, "' version '", definition.version,
                               "' of namespace '", plugin_namespace, "'");
  if (registry.getCreator(definition.name, definition.version, plugin_namespace.c_str())) {
    log.log(Severity::kVERBOSE, (what + " is registered already").c_str());
    return true;
  }
  auto creator = make_creator(definition, plugin_namespace);
  if (!registry.registerCreator(*creator, plugin_namespace.c_str())) {
    log.log(Severity::kERROR, (what + " could not be registered").c_str());
    return false;
  }
  log.log(Severity::kVERBOSE, ("registered " + what).c_str());
  kept.push_back(std::move(creator));
  return true;
}

bool register_all(const std::string& plugin_namespace, nv::ILogger& log) {
  static Registered& registered = *new Registered;
  const std::lock_guard lock(registered.mutex);
  if (const Status offered = offer_expansions(); !offered) {
    log.log(Severity::kERROR, ("initLibNvInferPlugins: " + offered.error().message).c_str());
    return false;
  }
  bool all = true;
  for (const Definition& definition : definitions())
    all &= register_creator(definition, plugin_namespace, log, registered.by_namespace[plugin_namespace]);
  return all;
}

}  // namespace

bool initLibNvInferPlugins(void* given, const char* plugin_namespace) {
  if (given) set_logger(static_cast<nv::ILogger*>(given));
  nv::ILogger& log = logger();
  try {
    return register_all(plugin_namespace ? plugin_namespace : "", log);
  } catch (const std::exception& thrown) {
    log.log(Severity::kERROR, thrown.what());
    return false;
  }
}
