#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

/// A row of numbers of mean 0 and variance 1, scaled and shifted.
std::vector<double> normalized_row(std::vector<double> row, const std::vector<float>& gamma,
                                   const std::vector<float>& beta) {
  const auto count = static_cast<double>(row.size());
  double mean = 0, variance = 0;
  for (const double value : row) mean += value / count;
  for (const double value : row) variance += (value - mean) * (value - mean) / count;
  constexpr double kEpsilon = 0x1p-23;
  for (size_t i = 0; i < row.size(); ++i)
    row[i] = (row[i] - mean) / std::sqrt(variance + kEpsilon) * gamma[i] + beta[i];
  return row;
}

constexpr const char* kName = "CustomSkipLayerNormPluginDynamic";
const std::vector<float> kGamma = {1, 2, -1, 0.5F, 1, 1}, kBeta = {0, 1, 0, -1, 2, 0},
                         kBias = {0.5F, 0, 0, -0.5F, 1, 0};

Attributes attributes(int32_t type, bool has_bias) {
  Attributes all = Attributes().set("type_id", std::vector<int32_t>{type}).set("ld", std::vector<int32_t>{6});
  all.set("gamma", kGamma).set("beta", kBeta);
  return has_bias ? all.set("bias", kBias) : all;
}

Tensor expected(const Tensor& x, const Tensor& skip, bool has_bias) {
  Tensor y = x;
  for (size_t first = 0; first < y.values.size(); first += 6) {
    std::vector<double> row;
    for (size_t i = 0; i < 6; ++i)
      row.push_back(x.values[first + i] + skip.values[first + i] + (has_bias ? kBias[i] : 0));
    const std::vector<double> normal = normalized_row(row, kGamma, kBeta);
    std::copy(normal.begin(), normal.end(), y.values.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return y;
}

class SkipLayerNorm : public ::testing::TestWithParam<const char*> {};

TEST_P(SkipLayerNorm, NormalizesTheSum) {
  for (const std::vector<int64_t>& extents : {std::vector<int64_t>{3, 2, 6, 1, 1}, {5, 6, 1, 1}, {2, 3, 6}})
    for (const bool has_bias : {false, true}) {
      const Tensor x = noise(extents, 1), skip = noise(extents, 2);
      expect_outputs(kName, GetParam(), attributes(0, has_bias), {x, skip}, {expected(x, skip, has_bias)});
    }
}

TEST_P(SkipLayerNorm, AddsTheEpsilonOfFloats) {
  Tensor x = noise({2, 3, 6}, 1), skip = x;
  for (double& value : x.values) value = std::ldexp(value, -12);  // variances of some 2^-24
  for (double& value : skip.values) value = 0;
  std::fill_n(x.values.begin(), 6, 0.25);  // no variance at all
  expect_outputs(kName, GetParam(), attributes(0, false), {x, skip}, {expected(x, skip, false)}, 1e-4);
}

TEST_P(SkipLayerNorm, TakesHalves) {
  const Tensor x = noise({3, 2, 6, 1, 1}, 1, nv::DataType::kHALF),
               skip = noise({3, 2, 6, 1, 1}, 2, nv::DataType::kHALF);
  expect_outputs(kName, GetParam(), attributes(1, true), {x, skip}, {expected(x, skip, true)}, 2e-3);
}

TEST_P(SkipLayerNorm, RefusesWhatDoesNotFit) {
  const Tensor x = noise({3, 2, 5, 1, 1}, 1);
  EXPECT_NE(error_of(kName, GetParam(), attributes(0, true), {x, x}).find("5 hidden units; gamma has 6"),
            std::string::npos);
  EXPECT_NE(error_of(kName, GetParam(), attributes(2, true), {x, x}).find("type_id is 2"), std::string::npos);
  EXPECT_NE(error_of(kName, GetParam(), Attributes().set("type_id", std::vector<int32_t>{0}), {x, x})
                .find("field 'gamma' is missing"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Versions, SkipLayerNorm, ::testing::Values("1", "2", "5", "6"));

}  // namespace
}  // namespace kiln::plugins::testing
