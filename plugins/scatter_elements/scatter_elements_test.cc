#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

struct Case {
  const char* reduction;
  double (*combine)(double, double);
};
constexpr Case kCases[] = {{"none", [](double, double b) { return b; }},
                           {"add", [](double a, double b) { return a + b; }},
                           {"mul", [](double a, double b) { return a * b; }},
                           {"max", [](double a, double b) { return std::max(a, b); }},
                           {"min", [](double a, double b) { return std::min(a, b); }}};

class ScatterElements : public ::testing::TestWithParam<const char*> {};

/// Small whole numbers, of which all types have the sums and products.
Tensor numbers(std::vector<int64_t> extents, int seed, nv::DataType type) {
  Tensor tensor = noise(std::move(extents), seed, type);
  for (double& value : tensor.values) value = std::round(4 * value);
  return tensor;
}

/// Updates along axis 0, in the order of rows.
Tensor combined(const Tensor& data, const Tensor& indices, const Tensor& updates, const Case& c) {
  Tensor y = data;
  for (size_t i = 0; i < indices.values.size(); ++i) {
    const double index = indices.values[i] < 0 ? indices.values[i] + 3 : indices.values[i];
    double& value = y.values[static_cast<size_t>(index) * 4 + i % 4];
    value = c.combine(value, updates.values[i]);
  }
  return y;
}

TEST_P(ScatterElements, CombinesUpdatesOneByOne) {
  const Tensor data = noise({3, 4}, 1), updates = noise({2, 4}, 2);
  for (const nv::DataType type : {nv::DataType::kINT32, nv::DataType::kINT64})
    for (const Case& c : kCases) {
      const Tensor indices{{2, 4}, {0, 2, 1, 1, 0, -1, 1, 0}, type};
      for (const int32_t axis : {0, -2})
        expect_outputs("ScatterElements", GetParam(),
                       Attributes().set("reduction", std::string(c.reduction)).set("axis", std::vector<int32_t>{axis}),
                       {data, indices, updates}, {combined(data, indices, updates, c)});
    }
}

TEST_P(ScatterElements, TakesOtherTypes) {
  const Tensor indices = ints({2, 4}, {0, 2, 1, 1, 0, -1, 1, 0});
  for (const nv::DataType type : {nv::DataType::kHALF, nv::DataType::kBF16, nv::DataType::kINT32, nv::DataType::kINT64})
    for (const Case& c : kCases) {
      const Tensor data = numbers({3, 4}, 1, type), updates = numbers({2, 4}, 2, type);
      expect_outputs("ScatterElements", GetParam(), Attributes().set("reduction", std::string(c.reduction)),
                     {data, indices, updates}, {combined(data, indices, updates, c)});
    }
}

TEST_P(ScatterElements, RefusesOtherReductions) {
  const Tensor x = noise({2}, 1);
  EXPECT_NE(error_of("ScatterElements", GetParam(), Attributes().set("reduction", std::string("mean")),
                     {x, ints({2}, {0, 1}), x})
                .find("reduction is 'mean'"),
            std::string::npos);
  EXPECT_NE(error_of("ScatterElements", GetParam(), Attributes().set("axis", std::vector<int32_t>{1}),
                     {x, ints({2}, {0, 1}), x})
                .find("axis is 1; data has rank 1"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Versions, ScatterElements, ::testing::Values("1", "2"));

}  // namespace
}  // namespace kiln::plugins::testing
