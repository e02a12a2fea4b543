#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/plugin_bench.h"
#include "testing/reference_normalization.h"

namespace kiln::plugins::testing {
namespace {

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
      expect_outputs(kName, GetParam(), attributes(0, has_bias), {x, skip}, {expected(x, skip, has_bias)}, 1e-5,
                     kAllWays);
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

/// Its tensors are of one type: others are cast to the first one's.
TEST_P(SkipLayerNorm, CastsFloatsOfAnotherType) {
  const std::vector<int64_t> extents{3, 2, 6, 1, 1};
  const Tensor x = noise(extents, 1, nv::DataType::kHALF), skip = noise(extents, 2);
  expect_outputs(kName, GetParam(), attributes(1, true), {x, skip}, {expected(x, skip, true)}, 2e-3);
}

TEST_P(SkipLayerNorm, RefusesWhatDoesNotFit) {
  const Tensor x = noise({3, 2, 5, 1, 1}, 1);
  EXPECT_NE(
      error_of(kName, GetParam(), attributes(0, true), {x, x}).find("has to be 6 long, as many as gamma has; it is 5"),
      std::string::npos);
  EXPECT_NE(error_of(kName, GetParam(), attributes(3, true), {x, x}).find("type_id is 3"), std::string::npos);
  EXPECT_NE(error_of(kName, GetParam(), Attributes().set("type_id", std::vector<int32_t>{0}), {x, x})
                .find("field 'gamma' is missing"),
            std::string::npos);
}

TEST_P(SkipLayerNorm, OfBytesRoundsInputsAndOutput) {
  const Tensor x = within(noise({3, 2, 6, 1, 1}, 1), 0.8F), skip = within(noise({3, 2, 6, 1, 1}, 2), 1);
  const Tensor y = within(expected(in_bytes(x), in_bytes(skip), true), 3);
  expect_outputs(kName, GetParam(), attributes(2, true), {x, skip}, {in_bytes(y)}, 1e-5, kAllWays);
  expect_outputs(kName, GetParam(), attributes(0, true), {x, skip}, {expected(x, skip, true)});
}

INSTANTIATE_TEST_SUITE_P(Versions, SkipLayerNorm, ::testing::Values("1", "2", "5", "6"));

/// A version of packed sequences by channels, and whether it is Megatron's.
struct ByChannels {
  const char* version;
  bool gives_sum;
};
std::ostream& operator<<(std::ostream& out, const ByChannels& one) { return out << one.version; }

class SkipLayerNormByChannels : public ::testing::TestWithParam<ByChannels> {
 protected:
  static void expect(const std::vector<float>& gamma, const std::vector<float>& beta, const std::vector<Tensor>& inputs,
                     const Tensor& y, const Tensor& sum) {
    const Attributes fields = Attributes().set("gamma", gamma).set("beta", beta);
    const std::vector<Tensor> outputs = GetParam().gives_sum ? std::vector<Tensor>{y, sum} : std::vector<Tensor>{y};
    expect_outputs(kName, GetParam().version, fields, inputs, outputs);
  }
  static Tensor sum_of(const Tensor& x, const Tensor& skip) {
    Tensor sum{x.extents, {}};
    for (size_t i = 0; i < x.values.size(); ++i) sum.values.push_back(x.values[i] + skip.values[i]);
    return sum;
  }
  /// What the plugin makes of a sum [1, 6, T, 1]: each token is normalised over its 6 channels.
  static Tensor normalized_channels(const Tensor& sum) {
    Tensor y = sum;
    const size_t tokens = sum.values.size() / 6;
    for (size_t t = 0; t < tokens; ++t) {
      std::vector<double> row;
      for (size_t i = 0; i < 6; ++i) row.push_back(sum.values[i * tokens + t]);
      row = normalized_row(row, kGamma, kBeta);
      for (size_t i = 0; i < 6; ++i) y.values[i * tokens + t] = row[i];
    }
    return y;
  }
};

/// By hand, of two units and steps of 1: 3.4 is 3 and 0.6 is 1, together 4; -2.5 is -2. Their mean is 1, they are 3
/// away from it, and n is 1 and -1: y is 5.4 and -3, as bytes 5 and -3. The sum has steps of 2.
TEST_P(SkipLayerNormByChannels, ByHand) {
  const Tensor x = within({{1, 2, 1, 1}, {3.4, -2.5}}, 127), skip = within({{1, 2, 1, 1}, {0.6, 0}}, 127);
  expect({5, 3}, {0.4F, 0}, {x, skip}, within({{1, 2, 1, 1}, {5, -3}}, 127), within({{1, 2, 1, 1}, {4, -2}}, 254));
}

TEST_P(SkipLayerNormByChannels, ComputesInBytes) {
  const Tensor x = within(noise({1, 6, 5, 1}, 1), 0.8F), skip = within(noise({1, 6, 5, 1}, 2), 1);
  const Tensor sum = sum_of(in_bytes(x), in_bytes(skip));
  expect(kGamma, kBeta, {x, skip}, in_bytes(within(normalized_channels(sum), 3)), in_bytes(within(sum, 1.5F)));
}

TEST_P(SkipLayerNormByChannels, ComputesInFloatsWhereARangeIsMissing) {
  const Tensor x = within(noise({1, 6, 5, 1}, 1), 0.8F), skip = noise({1, 6, 5, 1}, 2), sum = sum_of(x, skip);
  expect(kGamma, kBeta, {x, skip}, normalized_channels(sum), sum);
}

TEST_P(SkipLayerNormByChannels, RefusesWhatDoesNotFit) {
  const auto error = [&](const Attributes& fields, const Tensor& x) {
    return error_of(kName, GetParam().version, fields, {x, x});
  };
  const Attributes fields = Attributes().set("gamma", kGamma).set("beta", kBeta);
  EXPECT_NE(error(fields, noise({1, 5, 4, 1}, 1)).find("has to be 6 long, as many as gamma has; it is 5"),
            std::string::npos);
  EXPECT_NE(error(fields, noise({6, 4, 1}, 1)).find("input 0 has rank 3; 4 is needed"), std::string::npos);
  EXPECT_NE(error_of(kName, GetParam().version, fields, {noise({1, 6, 1, 1}, 1), noise({1, 6, 4, 1}, 1)})
                .find("axis 2 of input 1 has to be as long as axis 2 of input 0; it is 4, not 1"),
            std::string::npos);
  EXPECT_NE(error(Attributes().set("beta", kBeta), noise({1, 6, 4, 1}, 1)).find("field 'gamma' is missing"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Versions, SkipLayerNormByChannels,
                         ::testing::Values(ByChannels{"3", false}, ByChannels{"4", true}, ByChannels{"7", false},
                                           ByChannels{"8", true}));

}  // namespace
}  // namespace kiln::plugins::testing
