#include <NvInferPlugin.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "testing/holders.h"
#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

double gelu(double v) { return v * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v))) / 2; }

using api::testing::dims;
using api::testing::Running;
using api::testing::Workbench;

class Gelu : public ::testing::TestWithParam<const char*> {
 protected:
  static nv::ITensor* add(Workbench& w, nv::ITensor* x, const Attributes& attributes) {
    const std::vector<nv::PluginField> fields = attributes.fields();
    const nv::PluginFieldCollection collection{static_cast<int32_t>(fields.size()), fields.data()};
    nv::IPluginCreatorInterface& creator = *getPluginRegistry()->getCreator("CustomGeluPluginDynamic", GetParam());
    if (GetParam() == std::string("1")) {
      const OwnedV2 plugin(static_cast<nv::IPluginCreator&>(creator).createPlugin("gelu", &collection));
      return w->addPluginV2(&x, 1, *plugin)->getOutput(0);
    }
    const std::unique_ptr<nv::IPluginV3> plugin(
        static_cast<nv::IPluginCreatorV3One&>(creator).createPlugin("gelu", &collection, nv::TensorRTPhase::kBUILD));
    return w->addPluginV3(&x, 1, nullptr, 0, *plugin)->getOutput(0);
  }
};

TEST_P(Gelu, IsTheTanhForm) {
  const Tensor x = noise({2, 3, 4}, 1);
  Tensor y = x;
  for (double& value : y.values) value = gelu(value);
  expect_outputs("CustomGeluPluginDynamic", GetParam(), Attributes().set("type_id", std::vector<int32_t>{0}), {x}, {y});
}

TEST_P(Gelu, AddsTheBiasOfTheLastAxis) {
  const std::vector<float> bias = {0.5F, -1, 2, 0};
  const Tensor x = noise({2, 3, 4}, 2);
  Tensor y = x;
  for (size_t i = 0; i < y.values.size(); ++i) y.values[i] = gelu(y.values[i] + bias[i % 4]);
  expect_outputs("CustomGeluPluginDynamic", GetParam(),
                 Attributes().set("type_id", std::vector<int32_t>{0}).set("bias", bias), {x}, {y});
}

/// BERT's tensors have two axes of extent 1 behind the hidden units.
TEST_P(Gelu, AddsTheBiasInFrontOfAxesOfOne) {
  const std::vector<float> bias = {0.5F, -1, 2, 0};
  Tensor x = noise({2, 3, 4, 1, 1}, 2);
  Tensor y = x;
  for (size_t i = 0; i < y.values.size(); ++i) y.values[i] = gelu(y.values[i] + bias[i % 4]);
  expect_outputs("CustomGeluPluginDynamic", GetParam(),
                 Attributes().set("type_id", std::vector<int32_t>{0}).set("bias", bias), {x}, {y});
}

/// Of an axis of 8 units and one that a run tells the first is the bias's, if the run tells 1.
TEST_P(Gelu, AddsTheBiasInFrontOfAnAxisThatARunTells) {
  const std::vector<float> bias = {0.5F, -1, 2, 0, 1, -0.25F, 3, 0.75F};
  Workbench w;
  static api::testing::Logger& lasting = *new api::testing::Logger;  // the library keeps it
  ASSERT_TRUE(initLibNvInferPlugins(&lasting, ""));
  nv::ITensor* const x = w.input("x", {1, 3, 8, 1, -1});
  nv::IOptimizationProfile& profile = *w.builder->createOptimizationProfile();
  profile.setDimensions("x", nv::OptProfileSelector::kMIN, dims({1, 3, 8, 1, 1}));
  profile.setDimensions("x", nv::OptProfileSelector::kOPT, dims({1, 3, 8, 1, 1}));
  profile.setDimensions("x", nv::OptProfileSelector::kMAX, dims({1, 3, 8, 1, 9}));
  w.config->addOptimizationProfile(&profile);
  w.mark(add(w, x, Attributes().set("type_id", std::vector<int32_t>{0}).set("bias", bias)));
  const std::vector<double> values = noise({1, 3, 8}, 2).values;
  const std::vector<float> given(values.begin(), values.end());
  const std::vector<float> y = w.run({{"x", {{1, 3, 8, 1, 1}, given}}});
  ASSERT_EQ(y.size(), given.size());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], gelu(values[i] + bias[i % 8]), 1e-5) << i;

  Running running(w);
  ASSERT_NE(running.context, nullptr) << running.error;
  EXPECT_TRUE(running.context->setInputShape("x", dims({1, 3, 8, 1, 2})));
  EXPECT_EQ(running.context->inferShapes(0, nullptr), -1);
  const std::string words = str("CustomGeluPluginDynamic version ", GetParam(),
                                ": the last axis of input 0 that is not 1 long has to be 8 long");
  EXPECT_NE(running.last_error().find(words), std::string::npos) << running.last_error();
}

/// The layers would give [2, 3], for which a caller that was told [2, 1] has no memory.
TEST_P(Gelu, RefusesAnotherNumberOfBiases) {
  const Attributes fields =
      Attributes().set("type_id", std::vector<int32_t>{0}).set("bias", std::vector<float>{1, 2, 3});
  for (const Way way : {Way::kLayers, Way::kEnqueue})
    EXPECT_NE(run(way, "CustomGeluPluginDynamic", GetParam(), fields, {noise({2, 1}, 1)}).error.find("3 biases"),
              std::string::npos);
}

TEST_P(Gelu, TakesHalves) {
  const Tensor x = noise({5, 8}, 3, nv::DataType::kHALF);
  Tensor y = x;
  for (double& value : y.values) value = gelu(value);
  expect_outputs("CustomGeluPluginDynamic", GetParam(), Attributes().set("type_id", std::vector<int32_t>{1}), {x}, {y},
                 2e-3);
}

/// It takes no BF16: casts stand around its layers, as around a plugin of a program's.
TEST_P(Gelu, CastsBf16) {
  Tensor x = noise({5, 8}, 3, nv::DataType::kBF16);
  for (double& value : x.values) value = std::round(value * 64) / 64;  // which BF16 holds
  Tensor y = x;
  for (double& value : y.values) value = gelu(value);
  expect_outputs("CustomGeluPluginDynamic", GetParam(), Attributes().set("type_id", std::vector<int32_t>{0}), {x}, {y},
                 0x1p-8, kAllWays);
}

TEST_P(Gelu, RefusesWhatItDoesNotHave) {
  const Tensor x = noise({5, 8}, 3);
  EXPECT_NE(error_of("CustomGeluPluginDynamic", GetParam(), Attributes(), {x}).find("field 'type_id' is missing"),
            std::string::npos);
  EXPECT_NE(error_of("CustomGeluPluginDynamic", GetParam(), Attributes().set("type_id", std::vector<int32_t>{2}), {x})
                .find("type_id is 2"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Versions, Gelu, ::testing::Values("1", "2"));

}  // namespace
}  // namespace kiln::plugins::testing
