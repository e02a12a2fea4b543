#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

Attributes attributes(std::vector<int32_t> shapes) {
  return Attributes()
      .set("minSize", std::vector<float>{0.2F})
      .set("maxSize", std::vector<float>{0.8F})
      .set("aspectRatios", std::vector<float>{1, 2, 0.5F, 3})
      .set("featureMapShapes", std::move(shapes))
      .set("variance", std::vector<float>{0.1F, 0.1F, 0.2F, 0.2F})
      .set("numLayers", std::vector<int32_t>{3});
}

Tensor expected(int64_t height, int64_t width, const std::vector<std::pair<double, double>>& scales_and_ratios) {
  std::vector<double> boxes;
  for (int64_t h = 0; h < height; ++h)
    for (int64_t w = 0; w < width; ++w)
      for (const auto& [scale, ratio] : scales_and_ratios) {
        const double y = (static_cast<double>(h) + 0.5) / static_cast<double>(height),
                     x = (static_cast<double>(w) + 0.5) / static_cast<double>(width);
        const double half_width = scale * std::sqrt(ratio) / 2, half_height = scale / std::sqrt(ratio) / 2;
        for (const double corner : {x - half_width, y - half_height, x + half_width, y + half_height})
          boxes.push_back(corner);
      }
  Tensor result{{1, 2, static_cast<int64_t>(boxes.size()), 1}, boxes};
  for (size_t i = 0; i < boxes.size(); ++i) result.values.push_back(i % 4 < 2 ? 0.1 : 0.2);
  return result;
}

TEST(GridAnchor, HasSizesForEachMap) {
  const std::vector<std::pair<double, double>> first = {{0.1, 1}, {0.2, 2}, {0.2, 0.5}};
  const auto later = [](double scale, double next) {
    return std::vector<std::pair<double, double>>{
        {scale, 1}, {scale, 2}, {scale, 0.5}, {scale, 3}, {std::sqrt(scale * next), 1}};
  };
  expect_outputs("GridAnchor_TRT", "1", attributes({4, 2, 1}), {},
                 {expected(4, 4, first), expected(2, 2, later(0.5, 0.8)), expected(1, 1, later(0.8, 1))});
  expect_outputs("GridAnchorRect_TRT", "1", attributes({4, 3, 2, 1, 1, 2}), {},
                 {expected(4, 3, first), expected(2, 1, later(0.5, 0.8)), expected(1, 2, later(0.8, 1))});
}

TEST(GridAnchor, RefusesMapsThatAreNone) {
  EXPECT_NE(error_of("GridAnchor_TRT", "1", attributes({4, 0, 1}), {}).find("feature map 1 is 0 by 0"),
            std::string::npos);
  for (const int32_t side : {4096, 2'000'000'000}) {
    const std::string error = error_of("GridAnchor_TRT", "1", attributes({4, side, 1}), {});
    EXPECT_NE(error.find(
                  str("feature map 1 is ", side, " by ", side, " with 5 boxes a cell; 4194304 boxes of a map at most")),
              std::string::npos)
        << error;
  }
}

TEST(GridAnchor, RefusesMissingMaps) {
  EXPECT_NE(
      error_of("GridAnchor_TRT", "1", attributes({4, 2}), {}).find("featureMapShapes has 2 numbers; 3 are needed"),
      std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
