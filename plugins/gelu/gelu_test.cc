#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

double gelu(double v) { return v * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v))) / 2; }

class Gelu : public ::testing::TestWithParam<const char*> {};

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
  x.known_axes = 2;
  Tensor y = x;
  for (size_t i = 0; i < y.values.size(); ++i) y.values[i] = gelu(y.values[i] + bias[i % 4]);
  expect_outputs("CustomGeluPluginDynamic", GetParam(),
                 Attributes().set("type_id", std::vector<int32_t>{0}).set("bias", bias), {x}, {y});
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
