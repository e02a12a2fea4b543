// Standard plugins in a program that loads their library and calls nothing of it, by the public API.
#include <NvInfer.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "error_logger.h"

namespace {

namespace nv = nvinfer1;

using kiln::conformance::ErrorLogger;

/// Those that TensorRT's library registers when it is loaded, and a digit for each version.
constexpr struct {
  const char *name, *versions;
} kThereOnLoad[] = {{"CustomEmbLayerNormPluginDynamic", "123456"},
                    {"CustomFCPluginDynamic", "1"},
                    {"CustomGeluPluginDynamic", "1"},
                    {"CustomQKVToContextPluginDynamic", "123456"},
                    {"CustomSkipLayerNormPluginDynamic", "12345678"},
                    {"DisentangledAttention_TRT", "12"},
                    {"GroupNormalizationPlugin", "1"}};

nv::IPluginCreatorInterface* creator_of(const char* name, char version) {
  return getPluginRegistry()->getCreator(name, std::string(1, version).c_str(), "");
}

std::vector<nv::IPluginCreatorInterface*> creators_on_load() {
  std::vector<nv::IPluginCreatorInterface*> all;
  for (const auto& [name, versions] : kThereOnLoad)
    for (const char version : std::string(versions)) all.push_back(creator_of(name, version));
  return all;
}

/// Whether a network of the plugin alone can be built.
bool builds_gelu(ErrorLogger& logger) {
  const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
  const std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
  const std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
  const int32_t floats = 0;
  const nv::PluginField type("type_id", &floats, nv::PluginFieldType::kINT32, 1);
  const nv::PluginFieldCollection fields{1, &type};
  auto* const creator = static_cast<nv::IPluginCreator*>(creator_of("CustomGeluPluginDynamic", '1'));
  nv::IPluginV2* const plugin = creator->createPlugin("gelu", &fields);
  nv::ITensor* const x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims{2, {2, 4}});
  network->markOutput(*network->addPluginV2(&x, 1, *plugin)->getOutput(0));
  plugin->destroy();
  return std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config)) != nullptr;
}

TEST(StandardPlugins, OfTransformersAreThereOnceTheLibraryIsLoaded) {
  for (const auto* creator : creators_on_load()) EXPECT_EQ(creator, nullptr);
  void* const library = dlopen(KILN_PLUGIN_LIBRARY, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto creators = creators_on_load();
  EXPECT_EQ(creators.size(), 25U);
  for (size_t i = 0; i < creators.size(); ++i) EXPECT_NE(creators[i], nullptr) << i;
  EXPECT_EQ(creator_of("Clip_TRT", '1'), nullptr) << "TensorRT's is there after initLibNvInferPlugins";

  ErrorLogger logger;
  EXPECT_TRUE(builds_gelu(logger)) << logger.errors;

  const auto init = reinterpret_cast<bool (*)(void*, const char*)>(dlsym(library, "initLibNvInferPlugins"));
  ASSERT_NE(init, nullptr);
  EXPECT_TRUE(init(&logger, ""));
  EXPECT_NE(creator_of("Clip_TRT", '1'), nullptr);
  EXPECT_EQ(creators_on_load(), creators);
  EXPECT_EQ(logger.errors, "");
}

}  // namespace
