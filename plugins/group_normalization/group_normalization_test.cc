#include <gtest/gtest.h>

#include <cmath>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

Tensor normalized(const Tensor& x, const Tensor& scale, const Tensor& bias, int groups, double eps) {
  Tensor y = x;
  const int64_t channels = x.extents[1], plane = volume(x.extents) / x.extents[0] / channels;
  const int64_t size = channels / groups * plane;
  for (int64_t first = 0; first < volume(x.extents); first += size) {
    double mean = 0, variance = 0;
    for (int64_t i = first; i < first + size; ++i) mean += x.values[static_cast<size_t>(i)] / static_cast<double>(size);
    for (int64_t i = first; i < first + size; ++i)
      variance += std::pow(x.values[static_cast<size_t>(i)] - mean, 2) / static_cast<double>(size);
    for (int64_t i = first; i < first + size; ++i) {
      const auto channel = static_cast<size_t>(i / plane % channels);
      double& value = y.values[static_cast<size_t>(i)];
      value = (value - mean) / std::sqrt(variance + eps) * scale.values[channel] + bias.values[channel];
    }
  }
  return y;
}

Attributes attributes(float eps, int32_t groups) {
  return Attributes().set("eps", std::vector<float>{eps}).set("num_groups", std::vector<int32_t>{groups});
}

TEST(GroupNormalization, NormalizesGroupsOfChannels) {
  const Tensor x = noise({2, 6, 4, 5}, 1), scale = noise({6}, 2), bias = noise({6}, 3);
  expect_outputs("GroupNormalizationPlugin", "1", attributes(1e-3F, 3), {x, scale, bias},
                 {normalized(x, scale, bias, 3, 1e-3F)});
  expect_outputs("GroupNormalizationPlugin", "1", attributes(1e-3F, 3), in_halves({x, scale, bias}),
                 {in_halves(normalized(x, scale, bias, 3, 1e-3F))}, kHalfTolerance);
}

TEST(GroupNormalization, TakesSignalsAndVolumes) {
  for (const std::vector<int64_t>& extents : {std::vector<int64_t>{2, 4, 7}, {1, 4, 2, 3, 2}}) {
    const Tensor x = noise(extents, 4), scale = noise({4}, 5), bias = noise({4}, 6);
    expect_outputs("GroupNormalizationPlugin", "1", attributes(1e-5F, 2), {x, scale, bias},
                   {normalized(x, scale, bias, 2, 1e-5F)});
  }
}

TEST(GroupNormalization, RefusesGroupsThatDoNotFit) {
  const Tensor x = noise({2, 6, 4}, 1), scale = noise({6}, 2), bias = noise({6}, 3);
  EXPECT_NE(error_of("GroupNormalizationPlugin", "1", attributes(1e-5F, 4), {x, scale, bias})
                .find("axis 1 of input 0 has to be divisible by 4, as num_groups says; it is 6"),
            std::string::npos);
  EXPECT_NE(error_of("GroupNormalizationPlugin", "1", attributes(1e-5F, 0), {x, scale, bias}).find("num_groups is 0"),
            std::string::npos);
  EXPECT_NE(error_of("GroupNormalizationPlugin", "1", attributes(1e-5F, 2), {x, scale}).find("there are 2 inputs"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
