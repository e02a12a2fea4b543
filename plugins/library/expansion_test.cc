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
  Expansion() {
    static api::testing::Logger& lasting = *new api::testing::Logger;  // the library keeps it
    EXPECT_TRUE(initLibNvInferPlugins(&lasting, ""));
  }

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

/// What the inspector says of an engine of a loop that applies a plugin three times to [0, 1], which it gives in `y`.
std::string layers_of_loop(Workbench& w, nv::IPluginV3& plugin, std::vector<float>& y) {
  const int32_t three = 3;
  nv::ITensor* const x = w.input("x", {2});
  nv::ILoop* const loop = w->addLoop();
  loop->addTripLimit(*w->addConstant(dims({}), {nv::DataType::kINT32, &three, 1})->getOutput(0), nv::TripLimit::kCOUNT);
  nv::IRecurrenceLayer* const carried = loop->addRecurrence(*x);
  nv::ITensor* const value = carried->getOutput(0);
  nv::IPluginV3Layer* const layer = w->addPluginV3(&value, 1, nullptr, 0, plugin);
  EXPECT_NE(layer, nullptr) << w.take_error();
  if (!layer) return "";
  layer->setName("my gelu");
  carried->setInput(1, *layer->getOutput(0));
  w.mark(loop->addLoopOutput(*value, nv::LoopOutput::kLAST_VALUE)->getOutput(0));
  w.config->setProfilingVerbosity(nv::ProfilingVerbosity::kDETAILED);
  y = w.run({{"x", {{2}, {0, 1}}}});
  Running running(w);
  if (!running.engine) return running.error;
  const std::unique_ptr<nv::IEngineInspector> inspector(running.engine->createEngineInspector());
  return inspector->getEngineInformation(nv::LayerInformationFormat::kJSON);
}

TEST_F(Expansion, IsOfPluginsInLoops) {
  std::vector<float> y;
  const std::string layers = layers_of_loop(w, *gelu(), y);
  EXPECT_NE(layers.find("my gelu"), std::string::npos) << layers;
  EXPECT_EQ(layers.find("\"LayerType\": \"Plugin\""), std::string::npos) << layers;
  ASSERT_EQ(y.size(), 2U);
  EXPECT_EQ(y[0], 0);
  EXPECT_NEAR(y[1], 0.504147, 1e-4);  // gelu(gelu(gelu(1)))
}

/// The inspector would show a plugin in a loop.
TEST_F(Expansion, InLoopsIsNotOfPluginsThatHaveAStandardOneInside) {
  std::vector<float> y;
  const std::string layers = layers_of_loop(w, *hold(gelu()), y);
  EXPECT_NE(layers.find("\"LayerType\": \"Plugin\""), std::string::npos) << layers;
  ASSERT_EQ(y.size(), 2U);
  EXPECT_NEAR(y[1], 0.504147, 1e-4);
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
  for (const char* part :
       {"my gelu", "CustomGeluPluginDynamic", "input 0 'x' is of data type kINT32; kFLOAT or kHALF is needed"})
    EXPECT_NE(error.find(part), std::string::npos) << error;
}

TEST_F(Expansion, CastsNothingInAStronglyTypedNetwork) {
  Workbench strong(1U << static_cast<uint32_t>(nv::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED));
  nv::ITensor* const x = strong.input("x", {2, 4}, nv::DataType::kBF16);
  nv::IPluginV3Layer* const layer = strong->addPluginV3(&x, 1, nullptr, 0, *gelu());
  ASSERT_NE(layer, nullptr) << strong.take_error();
  layer->setName("my gelu");
  strong.mark(layer->getOutput(0));
  const std::unique_ptr<nv::IHostMemory> plan(strong.builder->buildSerializedNetwork(*strong.network, *strong.config));
  EXPECT_EQ(plan, nullptr);
  const std::string error = strong.take_error();
  for (const char* part :
       {"my gelu", "CustomGeluPluginDynamic", "input 0 'x' is of data type kBF16; kFLOAT or kHALF is needed"})
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

/// A logger may use the library: no lock is held while it is called. Namespaces keep their creators when a program
/// deregisters one.
TEST_F(Expansion, OfRegistrationCallsLoggersUnderNoLock) {
  struct Asking final : nv::ILogger {
    void log(Severity, const char*) noexcept override {
      if (++calls == 1) {
        EXPECT_TRUE(initLibNvInferPlugins(nullptr, "asked by a logger"));
      }
    }
    int calls = 0;
  };
  static Asking& logger = *new Asking;  // the library keeps it
  EXPECT_TRUE(initLibNvInferPlugins(&logger, "asking"));
  EXPECT_GE(logger.calls, 150);
  static api::testing::Logger& silent = *new api::testing::Logger;
  EXPECT_TRUE(initLibNvInferPlugins(&silent, "asking"));
  for (const char* space : {"asking", "asked by a logger"}) {
    nv::IPluginCreatorInterface* const creator = getPluginRegistry()->getCreator("Clip_TRT", "1", space);
    ASSERT_NE(creator, nullptr) << space;
    EXPECT_TRUE(getPluginRegistry()->deregisterCreator(*creator));
    EXPECT_TRUE(initLibNvInferPlugins(nullptr, space));
    EXPECT_EQ(getPluginRegistry()->getCreator("Clip_TRT", "1", space), creator);
  }
}

/// Names of TensorRT 10.16's creators, and a digit for each version.
constexpr struct {
  const char *name, *versions;
} kCreators[] = {{"BatchTilePlugin_TRT", "1"},
                 {"BatchedNMSDynamic_TRT", "1"},
                 {"BatchedNMS_TRT", "1"},
                 {"Clip_TRT", "1"},
                 {"CoordConvAC", "1"},
                 {"CropAndResize", "1"},
                 {"CropAndResizeDynamic", "12"},
                 {"CustomEmbLayerNormPluginDynamic", "123456"},
                 {"CustomFCPluginDynamic", "1"},
                 {"CustomGeluPluginDynamic", "1"},
                 {"CustomQKVToContextPluginDynamic", "123456"},
                 {"CustomSkipLayerNormPluginDynamic", "12345678"},
                 {"DecodeBbox3DPlugin", "1"},
                 {"DetectionLayer_TRT", "1"},
                 {"DisentangledAttention_TRT", "12"},
                 {"EfficientNMS_Explicit_TF_TRT", "1"},
                 {"EfficientNMS_Implicit_TF_TRT", "1"},
                 {"EfficientNMS_ONNX_TRT", "1"},
                 {"EfficientNMS_TRT", "1"},
                 {"FlattenConcat_TRT", "1"},
                 {"GenerateDetection_TRT", "1"},
                 {"GridAnchorRect_TRT", "1"},
                 {"GridAnchor_TRT", "1"},
                 {"GroupNormalizationPlugin", "1"},
                 {"InstanceNormalization_TRT", "123"},
                 {"LReLU_TRT", "1"},
                 {"ModulatedDeformConv2d", "12"},
                 {"MultilevelCropAndResize_TRT", "1"},
                 {"MultilevelProposeROI_TRT", "1"},
                 {"MultiscaleDeformableAttnPlugin_TRT", "12"},
                 {"NMSDynamic_TRT", "1"},
                 {"NMS_TRT", "1"},
                 {"Normalize_TRT", "1"},
                 {"PillarScatterPlugin", "1"},
                 {"PriorBox_TRT", "1"},
                 {"Proposal", "1"},
                 {"ProposalDynamic", "1"},
                 {"ProposalLayer_TRT", "1"},
                 {"PyramidROIAlign_TRT", "1"},
                 {"ROIAlign_TRT", "12"},
                 {"RPROI_TRT", "1"},
                 {"Region_TRT", "1"},
                 {"Reorg_TRT", "12"},
                 {"ResizeNearest_TRT", "1"},
                 {"ScatterElements", "12"},
                 {"ScatterND", "1"},
                 {"SpecialSlice_TRT", "1"},
                 {"Split", "1"},
                 {"VoxelGeneratorPlugin", "1"}};

TEST_F(Expansion, TheCreatorsOfTensorRtAreThere) {
  int count = 0;
  for (const auto& [name, versions] : kCreators)
    for (const char version : std::string(versions)) {
      ++count;
      EXPECT_NE(getPluginRegistry()->getCreator(name, std::string(1, version).c_str(), ""), nullptr)
          << name << ' ' << version;
    }
  EXPECT_EQ(count, 75);
}

/// The reason is in the error of the call, once, and not in a line of the library's own.
TEST_F(Expansion, OfInputsThatDoNotFitHasOneError) {
  static api::testing::Logger& lasting = *new api::testing::Logger;  // the library keeps it
  ASSERT_TRUE(initLibNvInferPlugins(&lasting, ""));
  const auto errors_of = [&](auto add) {
    lasting.errors.clear();
    w.logger.errors.clear();
    EXPECT_EQ(add(), nullptr);
    EXPECT_EQ(lasting.errors, std::vector<std::string>());
    return w.logger.errors;
  };
  using Errors = std::vector<std::string>;
  const Attributes parts = Attributes().set("axis", std::vector<int32_t>{1}).set("output_lengths", std::vector{1, 3});
  const std::vector<nv::PluginField> fields = parts.fields();
  const nv::PluginFieldCollection collection{static_cast<int32_t>(fields.size()), fields.data()};
  auto& creator = static_cast<nv::IPluginCreator&>(*getPluginRegistry()->getCreator("Split", "1"));
  const OwnedV2 split(creator.createPlugin("split", &collection));
  nv::ITensor* const x = w.input("x", {2, 5});
  EXPECT_EQ(
      errors_of([&] { return w->addPluginV2(&x, 1, *split); }),
      Errors{"INetworkDefinition::addPluginV2: plugin 'Split' version '1': getOutputDimensions: axis 1 of input 0 has "
             "to be 4 long, as output_lengths add up to; it is 5, not 4"});

  attributes.set("bias", std::vector<float>{1, 2, 3});
  const std::string why =
      "getOutputShapes: the last axis of input 0 that is not 1 long has to be 3 long, as there are 3 "
      "biases; it is 5, not 3";
  const auto plugin = gelu(), around = hold(gelu());
  EXPECT_EQ(errors_of([&] { return w->addPluginV3(&x, 1, nullptr, 0, *plugin); }),
            Errors{"INetworkDefinition::addPluginV3: plugin 'CustomGeluPluginDynamic' version '2': " + why});
  EXPECT_EQ(errors_of([&] { return w->addPluginV3(&x, 1, nullptr, 0, *around); }),
            Errors{"INetworkDefinition::addPluginV3: plugin 'HeldCustomGeluPluginDynamic' version '2': "
                   "CustomGeluPluginDynamic version 2: " +
                   why});
}

TEST(OnnxNode, OfFieldsThatDoNotFitHasOneError) {
  EXPECT_EQ(run(Way::kOnnx, "Clip_TRT", "1", Attributes().set("clipMin", std::vector<float>{0}), {noise({3}, 1)}).error,
            "IParser::parse: node 'plugin' (TRT.Clip_TRT) of x0 f32[3]: plugin 'Clip_TRT' version '1': createPlugin: "
            "field 'clipMax' is missing; one is needed\n");
}

/// Gives two batches of 6 numbers.
class Calibrator final : public nv::IInt8MinMaxCalibrator {
 public:
  int32_t getBatchSize() const noexcept override { return 1; }
  bool getBatch(void** bindings, const char**, int32_t count) noexcept override {
    for (int32_t i = 0; i < count; ++i) bindings[i] = batch.data();
    return left-- > 0;
  }
  const void* readCalibrationCache(size_t& length) noexcept override {
    length = 0;
    return nullptr;
  }
  void writeCalibrationCache(const void*, size_t) noexcept override {}
  api::testing::Shared<float> batch{1.27F, -1, 0.5F, 0.25F, 1, -0.5F};
  int left = 2;
};

/// A plugin that has bytes by ranges computes in floats while they are looked for.
TEST_F(Expansion, CalibratorsGiveBytes) {
  const Attributes fields = Attributes().set("gamma", std::vector<float>{1, 1}).set("beta", std::vector<float>{0, 0});
  const std::vector<nv::PluginField> list = fields.fields();
  const nv::PluginFieldCollection collection{static_cast<int32_t>(list.size()), list.data()};
  auto& creator =
      static_cast<nv::IPluginCreatorV3One&>(*getPluginRegistry()->getCreator("CustomSkipLayerNormPluginDynamic", "8"));
  const std::unique_ptr<nv::IPluginV3> plugin(creator.createPlugin("skip", &collection, nv::TensorRTPhase::kBUILD));
  ASSERT_NE(plugin, nullptr);
  nv::ITensor* const x = w.input("x", {1, 2, 3, 1});
  nv::ITensor* const inputs[] = {x, x};
  nv::IPluginV3Layer* const layer = w->addPluginV3(inputs, 2, nullptr, 0, *plugin);
  ASSERT_NE(layer, nullptr) << w.take_error();
  layer->getOutput(0)->setName("normal");
  w.mark(layer->getOutput(1));
  Calibrator calibrator;
  w.config->setFlag(nv::BuilderFlag::kINT8);
  w.config->setInt8Calibrator(&calibrator);
  // The range of x is 1.27 and a step 0.01, that of the sum 2.54: 0.504 is 0.50, and twice that is 50 steps of 0.02.
  const std::vector<float> sums = w.run({{"x", {{1, 2, 3, 1}, {0.504F, -1, 0.5F, 0.25F, 1, -0.5F}}}});
  ASSERT_EQ(sums.size(), 6U) << w.take_error();
  EXPECT_NEAR(sums[0], 1, 1e-5);
  EXPECT_NEAR(sums[3], 0.5, 1e-5);
}

/// A plugin of bytes between convolutions of bytes: y = 2 skip(conv(x), x), with weights that are multiples of a unit.
/// All of x are steps of 0.01. Of two channels that differ, n is 1 and -1; gamma makes that 1 and -0.5.
TEST_F(Expansion, OfBytesIsBetweenConvolutions) {
  const Attributes fields =
      Attributes().set("gamma", std::vector<float>{1, 0.5F}).set("beta", std::vector<float>{0, 0});
  const std::vector<nv::PluginField> list = fields.fields();
  const nv::PluginFieldCollection collection{static_cast<int32_t>(list.size()), list.data()};
  auto& creator =
      static_cast<nv::IPluginCreatorV3One&>(*getPluginRegistry()->getCreator("CustomSkipLayerNormPluginDynamic", "7"));
  const std::unique_ptr<nv::IPluginV3> plugin(creator.createPlugin("skip", &collection, nv::TensorRTPhase::kBUILD));
  ASSERT_NE(plugin, nullptr);
  const std::vector<float> one = {1, 0, 0, 1}, two = {2, 0, 0, 2};
  const auto within = [](nv::ITensor* tensor, const char* name, float range) {
    tensor->setName(name);
    tensor->setDynamicRange(-range, range);
    return tensor;
  };
  const auto convolution = [&](nv::ITensor* x, const std::vector<float>& kernel) {
    return w->addConvolutionNd(*x, 2, nv::DimsHW(1, 1), api::testing::weights(kernel), api::testing::no_weights())
        ->getOutput(0);
  };
  nv::ITensor* const x = within(w.input("x", {1, 2, 3, 1}), "x", 1.27F);
  nv::ITensor* const inputs[] = {within(convolution(x, one), "c", 1.27F), x};
  nv::IPluginV3Layer* const layer = w->addPluginV3(inputs, 2, nullptr, 0, *plugin);
  ASSERT_NE(layer, nullptr) << w.take_error();
  w.mark(convolution(within(layer->getOutput(0), "s", 1.27F), two));
  w.config->setFlag(nv::BuilderFlag::kINT8);
  const std::vector<float> y = w.run({{"x", {{1, 2, 3, 1}, {1.2F, 0.1F, -0.5F, 0.25F, 0.7F, -1}}}});
  ASSERT_EQ(y.size(), 6U) << w.take_error();
  const std::vector<float> expected = {2, -2, 2, -1, 1, -1};
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-4) << i;
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
