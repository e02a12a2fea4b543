#include <gtest/gtest.h>

#include <cmath>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

constexpr int64_t kNum = 2, kClasses = 3, kPlane = 6, kOfBox = 5 + kClasses;

Attributes attributes(int32_t coordinates) {
  return Attributes()
      .set("num", std::vector<int32_t>{kNum})
      .set("coords", std::vector<int32_t>{coordinates})
      .set("classes", std::vector<int32_t>{kClasses});
}

TEST(Region, ActivatesEachBox) {
  const Tensor x = noise({2, kNum * kOfBox, 2, 3}, 1);
  Tensor y = x;
  for (int64_t box = 0; box < 2 * kNum; ++box)
    for (int64_t p = 0; p < kPlane; ++p) {
      const auto at = [&](int64_t channel) { return static_cast<size_t>((box * kOfBox + channel) * kPlane + p); };
      for (const int64_t channel : {0, 1, 4}) y.values[at(channel)] = 1 / (1 + std::exp(-x.values[at(channel)]));
      double total = 0;
      for (int64_t c = 0; c < kClasses; ++c) total += std::exp(x.values[at(5 + c)]);
      for (int64_t c = 0; c < kClasses; ++c) y.values[at(5 + c)] = std::exp(x.values[at(5 + c)]) / total;
    }
  expect_outputs("Region_TRT", "1", attributes(4), {x}, {y});
  expect_outputs("Region_TRT", "1", attributes(4), {in_halves(x)}, {in_halves(y)}, kHalfTolerance);
  expect_outputs("Region_TRT", "1", attributes(4).set_null("smTree"), {x}, {y});
}

TEST(Region, RefusesOtherChannels) {
  EXPECT_NE(error_of("Region_TRT", "1", attributes(4), {noise({1, 15, 2, 3}, 1)})
                .find("as num, coords and classes say; it is 15"),
            std::string::npos);
  EXPECT_NE(error_of("Region_TRT", "1", attributes(5), {noise({1, 16, 2, 3}, 1)}).find("coords is 5"),
            std::string::npos);
}

TEST(Region, RefusesHierarchiesOfClasses) {
  const Attributes tree = attributes(4).set("smTree", std::vector<int32_t>{1});
  EXPECT_NE(error_of("Region_TRT", "1", tree, {noise({1, 16, 2, 3}, 1)}).find("smTree is given"), std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
