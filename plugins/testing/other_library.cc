#include "testing/other_library.h"

#include <NvInfer.h>
#include <NvInferPlugin.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "api/build/testing/workbench.h"

namespace kiln::plugins::testing {
namespace {

namespace nv = nvinfer1;

using Register = bool (*)(void* logger, const char* plugin_namespace);
Register in_use = initLibNvInferPlugins;

/// Ours, which are there as soon as the program runs, have the names of the other library's.
void deregister_all() {
  nv::IPluginRegistry& registry = *getPluginRegistry();
  int32_t count = 0;
  nv::IPluginCreatorInterface* const* const all = registry.getAllCreators(&count);
  for (nv::IPluginCreatorInterface* const creator : std::vector(all, all + count)) registry.deregisterCreator(*creator);
}

/// Loads the other library for good: its creators stay registered.
Register load(const char* path) {
  deregister_all();
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return library ? reinterpret_cast<Register>(dlsym(library, "initLibNvInferPlugins")) : nullptr;
}

class OtherLibrary final : public ::testing::Environment {
 public:
  void SetUp() override {
    if (!are_of_other_library()) return;
    in_use = load(std::getenv("KILN_TEST_PLUGINS"));
    if (!in_use) {  // tests of plugins that are not there would end in other ways
      std::fprintf(stderr, "KILN_TEST_PLUGINS: %s\n", dlerror());
      std::_Exit(EXIT_FAILURE);
    }
    // Plugins log by getLogger(), which is the first logger of the process for good: it has to outlive all tests.
    static api::testing::Logger& first = *new api::testing::Logger;
    const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(first));
  }
};
::testing::Environment* const other_library = ::testing::AddGlobalTestEnvironment(new OtherLibrary);

}  // namespace

bool are_of_other_library() { return std::getenv("KILN_TEST_PLUGINS") != nullptr; }

bool register_plugins(void* logger) { return in_use(logger, ""); }

}  // namespace kiln::plugins::testing
