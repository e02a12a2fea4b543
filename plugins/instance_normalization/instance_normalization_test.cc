#include <gtest/gtest.h>

#include <cmath>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

class InstanceNormalization : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr const char* kName = "InstanceNormalization_TRT";
  const std::vector<float> scales = {1.5F, -2, 0.5F}, bias = {0, 1, -1};
  Attributes attributes =
      Attributes().set("epsilon", std::vector<float>{1e-3F}).set("scales", scales).set("bias", bias);

  Tensor normalized(const Tensor& x, double slope) const {
    Tensor y = x;
    const auto plane = static_cast<size_t>(volume(x.extents) / x.extents[0] / x.extents[1]);
    for (size_t first = 0; first < y.values.size(); first += plane) {
      const size_t channel = first / plane % scales.size();
      double mean = 0, variance = 0;
      for (size_t i = first; i < first + plane; ++i) mean += x.values[i] / static_cast<double>(plane);
      for (size_t i = first; i < first + plane; ++i)
        variance += std::pow(x.values[i] - mean, 2) / static_cast<double>(plane);
      for (size_t i = first; i < first + plane; ++i) {
        const double value = (x.values[i] - mean) / std::sqrt(variance + 1e-3) * scales[channel] + bias[channel];
        y.values[i] = value > 0 ? value : slope * value;
      }
    }
    return y;
  }
};

TEST_P(InstanceNormalization, NormalizesEachChannel) {
  for (const std::vector<int64_t>& extents : {std::vector<int64_t>{2, 3, 4, 5}, {1, 3, 7}, {2, 3, 2, 3, 2}}) {
    const Tensor x = noise(extents, 1);
    expect_outputs(kName, GetParam(), attributes, {x}, {normalized(x, 1)});
    expect_outputs(kName, GetParam(), attributes, {in_halves(x)}, {in_halves(normalized(x, 1))}, kHalfTolerance);
  }
}

TEST_P(InstanceNormalization, HasALeakyRelu) {
  const Tensor x = noise({2, 3, 4, 5}, 2);
  attributes.set("relu", std::vector<int32_t>{1}).set("alpha", std::vector<float>{0.25F});
  expect_outputs(kName, GetParam(), attributes, {x}, {normalized(x, 0.25)});
}

TEST_P(InstanceNormalization, RefusesOtherChannels) {
  EXPECT_NE(error_of(kName, GetParam(), attributes, {noise({2, 4, 5}, 1)})
                .find("axis 1 of input 0 has to be 3 long, as many as there are scales; it is 4"),
            std::string::npos);
  EXPECT_NE(error_of(kName, GetParam(), Attributes().set("scales", scales), {noise({2, 3, 5}, 1)})
                .find("3 scales and 0 biases"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Versions, InstanceNormalization, ::testing::Values("1", "2", "3"));

}  // namespace
}  // namespace kiln::plugins::testing
