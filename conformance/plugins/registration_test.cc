// Creators that register themselves before main, and the registries that programs get.
#include <NvInfer.h>
#include <NvInferSafeRuntime.h>
#include <gtest/gtest.h>

#include "libraries/creators.h"

namespace {

class StandardCreator : public nvinfer1::IPluginCreatorV3One {
 public:
  nvinfer1::IPluginV3* createPlugin(char const*, nvinfer1::PluginFieldCollection const*,
                                    nvinfer1::TensorRTPhase) noexcept override {
    return nullptr;
  }
  nvinfer1::PluginFieldCollection const* getFieldNames() noexcept override { return nullptr; }
  char const* getPluginName() const noexcept override { return "FromExecutable"; }
  char const* getPluginVersion() const noexcept override { return "1"; }
  char const* getPluginNamespace() const noexcept override { return ""; }
};
class SafetyCreator final : public StandardCreator {};
REGISTER_TENSORRT_PLUGIN(StandardCreator);
REGISTER_SAFE_TENSORRT_PLUGIN(SafetyCreator);

TEST(Registration, WorksBeforeMain) {
  nvinfer1::IPluginCreatorInterface* creator = getPluginRegistry()->getCreator("FromExecutable", "1", "");
  ASSERT_NE(creator, nullptr);
  EXPECT_STREQ(static_cast<nvinfer1::IPluginCreatorV3One*>(creator)->getPluginName(), "FromExecutable");
}

TEST(Registration, OfSafetyIsApart) {
  nvinfer1::IPluginCreatorInterface* safe = getSafePluginRegistry()->getCreator("FromExecutable", "1", "");
  EXPECT_NE(safe, nullptr);
  EXPECT_NE(safe, getPluginRegistry()->getCreator("FromExecutable", "1", ""));
  EXPECT_EQ(nvinfer1::safe::getSafePluginRegistry(), getSafePluginRegistry());
  EXPECT_NE(getSafePluginRegistry(), getPluginRegistry());
  int32_t count = 0;
  getSafePluginRegistry()->getAllCreatorsRecursive(&count);
  EXPECT_EQ(count, 1);
}

TEST(Registration, BuildersHaveARegistryByCapability) {
  using nvinfer1::EngineCapability;
  EXPECT_EQ(nvinfer1::getBuilderPluginRegistry(EngineCapability::kSTANDARD), getPluginRegistry());
  EXPECT_EQ(nvinfer1::getBuilderPluginRegistry(EngineCapability::kSAFETY), nullptr);
  EXPECT_EQ(nvinfer1::getBuilderPluginRegistry(EngineCapability::kDLA_STANDALONE), nullptr);
  EXPECT_EQ(nvinfer1::getBuilderSafePluginRegistry(EngineCapability::kSAFETY), nullptr);
}

}  // namespace
