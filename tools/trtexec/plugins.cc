#include "plugins.h"

#include <dlfcn.h>

#include <algorithm>
#include <exception>

#include "base/throwing_dlopen.h"
#include "log.h"

namespace kiln::cli::trtexec {
namespace {

/// The library's creators are used until the process ends, so nothing closes it.
void* load_for_good(const std::string& library) {
  try {
    if (void* const handle = throwing_dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  } catch (const std::exception& thrown) {
    fail("--staticPlugins: cannot load ", library, ": its initialiser threw: ", thrown.what());
  } catch (...) {
    fail("--staticPlugins: cannot load ", library, ": its initialiser threw an exception that is no std::exception");
  }
  const char* words = dlerror();
  fail("--staticPlugins: cannot load ", library, ": ", words ? words : "the loader does not say why");
}

int32_t num_creators() {
  int32_t count = 0;
  getPluginRegistry()->getAllCreators(&count);
  return count;
}

}  // namespace

void load_static_plugins(const std::vector<std::string>& libraries, Log& log) {
  for (const std::string& library : libraries) {
    log.info("Loading supplied plugin library: ", library);
    const int32_t before = num_creators();
    void* const handle = load_for_good(library);
    const bool gives_creators = dlsym(handle, "getCreators") || dlsym(handle, "getPluginCreators");
    if (gives_creators && num_creators() == before)
      log.warn("--staticPlugins: ", library, " registered no creators when it was loaded, and gives them to who asks ",
               "for them; load it by --dynamicPlugins=", library);
  }
}

void load_plugins(const std::vector<std::string>& libraries, nvinfer1::IPluginRegistry& registry, Log& log) {
  for (const std::string& library : libraries) {
    log.info("Loading plugin library into a registry: ", library);
    require(registry.loadLibrary(library.c_str()), "--dynamicPlugins: cannot load ", library,
            ": the message above says why");
  }
}

std::vector<std::string> loaded_with_engine(const PluginOptions& plugins) {
  std::vector<std::string> libraries;
  for (const std::string& library : plugins.dynamics)
    if (std::ranges::find(plugins.serialized, library) == plugins.serialized.end()) libraries.push_back(library);
  return libraries;
}

}  // namespace kiln::cli::trtexec
