// libnvinfer_plugin's one function, and what is done without a call of it.
#include <NvInferPlugin.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <mutex>
#include <string_view>

#include "library/creators.h"
#include "library/engines.h"
#include "library/expander.h"

namespace {

using namespace kiln;
using namespace kiln::plugins;
using Severity = nv::ILogger::Severity;

using Creators = std::vector<std::unique_ptr<nv::IPluginCreatorInterface>>;

/// One creator for each definition, of that namespace: registries hold them, so that they live as long as the process.
const Creators& creators_of(const std::string& plugin_namespace) {
  static std::mutex& mutex = *new std::mutex;
  static auto& kept = *new std::map<std::string, Creators>;  // whose elements stay where they are
  const std::lock_guard lock(mutex);
  Creators& creators = kept[plugin_namespace];
  while (creators.size() < definitions().size())
    creators.push_back(make_creator(definitions()[creators.size()], plugin_namespace));
  return creators;
}

/// Registers a creator unless there is one of its name. Calls the registry and the logger, whose code is the program's
/// and may come back here, so that the caller holds no lock.
bool register_creator(const Definition& definition, nv::IPluginCreatorInterface& creator,
                      const std::string& plugin_namespace, nv::ILogger& log) {
  nv::IPluginRegistry& registry = *getPluginRegistry();
  const auto is_there = [&] {
    return registry.getCreator(definition.name, definition.version, plugin_namespace.c_str()) != nullptr;
  };
  const std::string what = str("standard plugin '", definition.name, "' version '", definition.version,
                               "' of namespace '", plugin_namespace, "'");
  if (is_there()) {
    log.log(Severity::kVERBOSE, (what + " is registered already").c_str());
    return true;
  }
  // Another thread, or the logger, may have registered it since.
  if (!registry.registerCreator(creator, plugin_namespace.c_str()) && !is_there()) {
    log.log(Severity::kERROR, (what + " could not be registered").c_str());
    return false;
  }
  log.log(Severity::kVERBOSE, ("registered " + what).c_str());
  return true;
}

bool register_all(const std::string& plugin_namespace, nv::ILogger& log) {
  if (const Status offered = offer_expansions(); !offered) {
    log.log(Severity::kERROR, ("initLibNvInferPlugins: " + offered.error().message).c_str());
    return false;
  }
  const Creators& creators = creators_of(plugin_namespace);
  bool all = true;
  for (size_t i = 0; i < definitions().size(); ++i)
    all &= register_creator(definitions()[i], *creators[i], plugin_namespace, log);
  return all;
}

/// Plugins that are in the registry as soon as the library is loaded, as those of TensorRT are. Programs that use them
/// call nothing.
constexpr std::string_view kThereOnLoad[] = {
    "CustomEmbLayerNormPluginDynamic",  "CustomFCPluginDynamic",     "CustomGeluPluginDynamic",
    "CustomQKVToContextPluginDynamic",  "DisentangledAttention_TRT", "GroupNormalizationPlugin",
    "CustomSkipLayerNormPluginDynamic",
};

/// Nobody is told of a failure: a later initLibNvInferPlugins fails of the same reason, and says so.
bool register_on_load() noexcept {
  try {
    if (!offer_expansions()) return false;
    const Creators& creators = creators_of("");
    bool all = true;
    for (size_t i = 0; i < definitions().size(); ++i)
      if (std::ranges::find(kThereOnLoad, definitions()[i].name) != std::end(kThereOnLoad))
        all &= register_creator(definitions()[i], *creators[i], "", logger());
    return all;
  } catch (...) {
    return false;
  }
}
[[maybe_unused]] const bool was_registered_on_load = register_on_load();

}  // namespace

bool initLibNvInferPlugins(void* given, const char* plugin_namespace) {
  if (given) set_logger(static_cast<nv::ILogger*>(given));
  nv::ILogger& log = logger();
  try {
    return register_all(plugin_namespace ? plugin_namespace : "", log);
  } catch (const std::exception& thrown) {
    std::array<char, 256> text{};  // there may be no memory for a longer one
    std::snprintf(text.data(), text.size(), "initLibNvInferPlugins: %s", thrown.what());
    log.log(Severity::kERROR, text.data());
  } catch (...) {
    log.log(Severity::kERROR, "initLibNvInferPlugins: an exception that is no std::exception was thrown");
  }
  return false;
}
