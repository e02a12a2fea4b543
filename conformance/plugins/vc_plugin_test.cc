// The library of plugins for version-compatible plans, loaded by a registry as programs load it.
#include <NvInfer.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "error_logger.h"

namespace {

namespace nv = nvinfer1;

using kiln::conformance::ErrorLogger;

TEST(VcPlugins, HaveRoiAlignOnceTheLibraryIsLoaded) {
  ErrorLogger logger;
  const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
  nv::IPluginRegistry& registry = *getPluginRegistry();
  ASSERT_EQ(registry.getCreator("ROIAlign_TRT", "2", ""), nullptr);
  const auto handle = registry.loadLibrary(KILN_VC_PLUGIN_LIBRARY);
  ASSERT_NE(handle, nullptr) << logger.errors;
  auto* const creator = static_cast<nv::IPluginCreatorV3One*>(registry.getCreator("ROIAlign_TRT", "2", ""));
  ASSERT_NE(creator, nullptr);
  EXPECT_EQ(registry.getCreator("Clip_TRT", "1", ""), nullptr) << "the library has one plugin";

  const std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
  const std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
  const int32_t size = 2;
  const nv::PluginField fields[] = {{"output_height", &size, nv::PluginFieldType::kINT32, 1},
                                    {"output_width", &size, nv::PluginFieldType::kINT32, 1}};
  const nv::PluginFieldCollection all{2, fields};
  const std::unique_ptr<nv::IPluginV3> plugin(creator->createPlugin("regions", &all, nv::TensorRTPhase::kBUILD));
  ASSERT_NE(plugin, nullptr) << logger.errors;
  nv::ITensor* const inputs[] = {network->addInput("x", nv::DataType::kFLOAT, nv::Dims4(1, 3, 8, 8)),
                                 network->addInput("rois", nv::DataType::kFLOAT, nv::Dims2(5, 4)),
                                 network->addInput("images", nv::DataType::kINT32, nv::Dims{1, {5}})};
  nv::IPluginV3Layer* const layer = network->addPluginV3(inputs, 3, nullptr, 0, *plugin);
  ASSERT_NE(layer, nullptr) << logger.errors;
  network->markOutput(*layer->getOutput(0));
  const std::unique_ptr<nv::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  ASSERT_NE(plan, nullptr) << logger.errors;
  const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
  const std::unique_ptr<nv::ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  ASSERT_NE(engine, nullptr) << logger.errors;
  const nv::Dims y = engine->getTensorShape(engine->getIOTensorName(3));
  EXPECT_EQ(y.nbDims, 4);
  EXPECT_EQ(y.d[0] * y.d[1] * y.d[2] * y.d[3], 5 * 3 * 2 * 2);
}

}  // namespace
