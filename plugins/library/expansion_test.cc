// What builds make of standard plugins, and what becomes of those that nobody knows.
#include <NvInferPlugin.h>
#include <gtest/gtest.h>

#include "api/build/testing/workbench.h"
#include "testing/holders.h"
#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

using api::testing::dims;
using api::testing::Running;
using api::testing::Workbench;

class Expansion : public ::testing::Test {
 protected:
  Expansion() { EXPECT_TRUE(initLibNvInferPlugins(nullptr, "")); }

  std::unique_ptr<nv::IPluginV3> gelu() {
    const std::vector<nv::PluginField> fields = attributes.fields();
    const nv::PluginFieldCollection collection{static_cast<int32_t>(fields.size()), fields.data()};
    auto& creator =
        static_cast<nv::IPluginCreatorV3One&>(*getPluginRegistry()->getCreator("CustomGeluPluginDynamic", "2"));
    return std::unique_ptr<nv::IPluginV3>(creator.createPlugin("gelu", &collection, nv::TensorRTPhase::kBUILD));
  }
  /// What the inspector says of an engine of relu(plugin(relu(x))).
  std::string layers_around(nv::IPluginV3& plugin) {
    nv::ITensor* const x = w->addActivation(*w.input("x", {2, 4}), nv::ActivationType::kRELU)->getOutput(0);
    nv::IPluginV3Layer* const layer = w->addPluginV3(&x, 1, nullptr, 0, plugin);
    EXPECT_NE(layer, nullptr) << w.take_error();
    if (!layer) return "";
    layer->setName("my gelu");
    w.mark(w->addActivation(*layer->getOutput(0), nv::ActivationType::kRELU)->getOutput(0));
    w.config->setProfilingVerbosity(nv::ProfilingVerbosity::kDETAILED);
    Running running(w);
    if (!running.engine) return running.error;
    const std::unique_ptr<nv::IEngineInspector> inspector(running.engine->createEngineInspector());
    return inspector->getEngineInformation(nv::LayerInformationFormat::kJSON);
  }

  Attributes attributes = Attributes().set("type_id", std::vector<int32_t>{0});
  Workbench w;
};

TEST_F(Expansion, LeavesNoPluginAndKeepsTheLayersName) {
  const std::string layers = layers_around(*gelu());
  EXPECT_NE(layers.find("my gelu"), std::string::npos) << layers;
  EXPECT_EQ(layers.find("\"LayerType\": \"Plugin\""), std::string::npos) << layers;
}

TEST_F(Expansion, IsNotOfPluginsThatHaveAStandardOneInside) {
  const std::string layers = layers_around(*hold(gelu()));
  EXPECT_NE(layers.find("\"LayerType\": \"Plugin\""), std::string::npos) << layers;
}

TEST_F(Expansion, NetworksAreNotChangedByIt) {
  nv::ITensor* const x = w.input("x", {2, 4});
  const auto plugin = gelu();
  w.mark(w->addPluginV3(&x, 1, nullptr, 0, *plugin)->getOutput(0));
  for (int turn = 0; turn < 2; ++turn) {
    Running running(w);
    EXPECT_NE(running.engine, nullptr) << running.error;
    ASSERT_EQ(w->getNbLayers(), 1);
    EXPECT_EQ(w->getLayer(0)->getType(), nv::LayerType::kPLUGIN_V3);
  }
}

TEST_F(Expansion, OutlivesThePluginsWeights) {
  attributes.set("bias", std::vector<float>{1, 2, 3, 4});
  nv::ITensor* const x = w.input("x", {1, 4});
  w.mark(w->addPluginV3(&x, 1, nullptr, 0, *gelu())->getOutput(0));
  const std::vector<float> y = w.run({{"x", {{1, 4}, {0, 0, 0, 0}}}});
  ASSERT_EQ(y.size(), 4U);
  EXPECT_NEAR(y[0], 0.841192, 1e-4);  // gelu(1)
  EXPECT_NEAR(y[3], 3.99993, 1e-4);   // gelu(4)
}

TEST_F(Expansion, OfAnUnfitTypeNamesLayerAndPlugin) {
  nv::ITensor* const x = w.input("x", {2, 4}, nv::DataType::kINT32);
  nv::IPluginV3Layer* const layer = w->addPluginV3(&x, 1, nullptr, 0, *gelu());
  ASSERT_NE(layer, nullptr) << w.take_error();
  layer->setName("my gelu");
  w.mark(layer->getOutput(0));
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  EXPECT_EQ(plan, nullptr);
  const std::string error = w.take_error();
  for (const char* part : {"my gelu", "CustomGeluPluginDynamic", "input 0 'x' is of data type"})
    EXPECT_NE(error.find(part), std::string::npos) << error;
}

TEST_F(Expansion, OfRegistrationIsOncePerNamespace) {
  EXPECT_TRUE(initLibNvInferPlugins(nullptr, ""));
  EXPECT_TRUE(initLibNvInferPlugins(nullptr, "mine"));
  nv::IPluginCreatorInterface* const creator = getPluginRegistry()->getCreator("CustomGeluPluginDynamic", "2", "mine");
  ASSERT_NE(creator, nullptr);
  EXPECT_NE(creator, getPluginRegistry()->getCreator("CustomGeluPluginDynamic", "2", ""));
  EXPECT_STREQ(static_cast<nv::IPluginCreatorV3One*>(creator)->getPluginNamespace(), "mine");
}

TEST_F(Expansion, OfDamagedBytesIsRefused) {
  auto& creator = static_cast<nv::IPluginCreator&>(*getPluginRegistry()->getCreator("GroupNormalizationPlugin", "1"));
  const std::vector<int32_t> bytes = {4, 0x7f7f7f7f, 5, 1 << 30};
  EXPECT_EQ(creator.deserializePlugin("x", bytes.data(), bytes.size() * sizeof(int32_t)), nullptr);
  EXPECT_EQ(creator.deserializePlugin("x", nullptr, 3), nullptr);
  EXPECT_EQ(creator.createPlugin("x", nullptr), nullptr);
}

}  // namespace
}  // namespace kiln::plugins::testing
