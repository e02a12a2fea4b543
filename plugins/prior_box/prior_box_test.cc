#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

constexpr int64_t kHeight = 2, kWidth = 3;

struct Case {
  std::vector<float> most;
  int32_t flips, clips, image_height, image_width;
  float step;
};

Attributes attributes(const Case& c) {
  Attributes all = Attributes()
                       .set("minSize", std::vector<float>{20, 30})
                       .set("aspectRatios", std::vector<float>{2, 3})
                       .set("flip", std::vector<int32_t>{c.flips})
                       .set("clip", std::vector<int32_t>{c.clips})
                       .set("variance", std::vector<float>{0.1F, 0.1F, 0.2F, 0.2F})
                       .set("imgH", std::vector<int32_t>{c.image_height})
                       .set("imgW", std::vector<int32_t>{c.image_width})
                       .set("stepH", std::vector<float>{c.step})
                       .set("stepW", std::vector<float>{c.step})
                       .set("offset", std::vector<float>{0.5F});
  return c.most.empty() ? all : all.set("maxSize", c.most);
}

TEST(PriorBox, IsAroundEachCell) {
  const Tensor map = noise({2, 1, kHeight, kWidth}, 1), image = noise({2, 1, 40, 60}, 2);
  for (const Case& c : {Case{{}, 0, 0, 0, 0, 0}, Case{{40, 50}, 1, 0, 100, 80, 16}, Case{{40, 50}, 1, 1, 40, 60, 0}}) {
    const double height = c.image_height ? c.image_height : 40, width = c.image_width ? c.image_width : 60;
    const double step_y = c.step > 0 ? c.step : height / kHeight, step_x = c.step > 0 ? c.step : width / kWidth;
    std::vector<double> boxes;
    for (int64_t h = 0; h < kHeight; ++h)
      for (int64_t w = 0; w < kWidth; ++w)
        for (size_t i = 0; i < 2; ++i) {
          const double least = i == 0 ? 20 : 30;
          std::vector<std::pair<double, double>> sizes = {{least, least}};
          if (!c.most.empty()) sizes.emplace_back(std::sqrt(least * c.most[i]), std::sqrt(least * c.most[i]));
          for (const double ratio : {2.0, 3.0}) {
            sizes.emplace_back(least * std::sqrt(ratio), least / std::sqrt(ratio));
            if (c.flips) sizes.emplace_back(least / std::sqrt(ratio), least * std::sqrt(ratio));
          }
          const double y = (static_cast<double>(h) + 0.5) * step_y, x = (static_cast<double>(w) + 0.5) * step_x;
          for (const auto& [box_width, box_height] : sizes)
            for (const double corner : {(x - box_width / 2) / width, (y - box_height / 2) / height,
                                        (x + box_width / 2) / width, (y + box_height / 2) / height})
              boxes.push_back(c.clips ? std::clamp(corner, 0.0, 1.0) : corner);
        }
    Tensor y{{2, 2, static_cast<int64_t>(boxes.size()), 1}, {}};
    for (int n = 0; n < 2; ++n) {
      y.values.insert(y.values.end(), boxes.begin(), boxes.end());
      for (size_t i = 0; i < boxes.size(); ++i) y.values.push_back(i % 4 < 2 ? 0.1 : 0.2);
    }
    expect_outputs("PriorBox_TRT", "1", attributes(c), {map, image}, {y});
    expect_outputs("PriorBox_TRT", "1", attributes(c), in_halves({map, image}), {y});
  }
}

TEST(PriorBox, RefusesSizesThatDoNotFit) {
  const Tensor x = noise({1, 1, 2, 2}, 1);
  EXPECT_NE(error_of("PriorBox_TRT", "1", attributes({{1}, 0, 0, 0, 0, 0}), {x, x}).find("2 minimum and 1 maximum"),
            std::string::npos);
  EXPECT_NE(error_of("PriorBox_TRT", "1", {}, {x, x}).find("0 minimum"), std::string::npos);
  const auto refusal = [&](std::vector<float> least, std::vector<float> most) {
    return error_of("PriorBox_TRT", "1",
                    Attributes(attributes({})).set("minSize", std::move(least)).set("maxSize", std::move(most)),
                    {x, x});
  };
  const Tensor wide{{1, 0, 4096, 4096}, {}};
  EXPECT_NE(error_of("PriorBox_TRT", "1", attributes({}), {wide, x}).find("the feature map is 4096 by 4096 with "),
            std::string::npos);
  EXPECT_NE(refusal({20, 0}, {30, 40}).find("minimum size 1 is 0; it has to be above 0"), std::string::npos);
  EXPECT_NE(refusal({20, 30}, {30, 29}).find("maximum size 1 is 29; the minimum size is 30"), std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
