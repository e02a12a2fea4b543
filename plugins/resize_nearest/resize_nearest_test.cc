#include <gtest/gtest.h>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

Attributes by(float scale) { return Attributes().set("scale", std::vector<float>{scale}); }

Tensor resized(const Tensor& x, float scale) {
  const int64_t height = x.extents[2], width = x.extents[3];
  const auto rows = static_cast<int64_t>(static_cast<float>(height) * scale);
  const auto columns = static_cast<int64_t>(static_cast<float>(width) * scale);
  Tensor y{{x.extents[0], x.extents[1], rows, columns}, {}, x.type};
  for (int64_t plane = 0; plane < x.extents[0] * x.extents[1]; ++plane)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        const auto row = static_cast<int64_t>(static_cast<float>(i) / scale);
        const auto column = static_cast<int64_t>(static_cast<float>(j) / scale);
        y.values.push_back(x.values[static_cast<size_t>((plane * height + row) * width + column)]);
      }
  return y;
}

TEST(ResizeNearest, TakesTheLowerPixel) {
  const Tensor x = noise({2, 3, 4, 5}, 1);
  for (const float scale : {2.0F, 1.0F, 3.0F})
    expect_outputs("ResizeNearest_TRT", "1", by(scale), {x}, {resized(x, scale)});
  expect_outputs("ResizeNearest_TRT", "1", by(2), {in_halves(x)}, {in_halves(resized(x, 2))});
}

TEST(ResizeNearest, HasFractionsWhereExtentsAreKnown) {
  const Tensor x = noise({2, 3, 4, 5}, 1), y = resized(x, 1.5F), z = resized(x, 0.5F);
  for (const Way way : {Way::kLayers, Way::kEnqueue}) {
    EXPECT_EQ(run(way, "ResizeNearest_TRT", "1", by(1.5F), {x}).outputs.at(0).values, y.values);
    EXPECT_EQ(run(way, "ResizeNearest_TRT", "1", by(0.5F), {x}).outputs.at(0).values, z.values);
  }
  EXPECT_NE(run(Way::kDynamicLayers, "ResizeNearest_TRT", "1", by(1.5F), {x}).error.find("is no whole number"),
            std::string::npos);
}

TEST(ResizeNearest, RefusesScalesThatAreNone) {
  EXPECT_NE(error_of("ResizeNearest_TRT", "1", by(0), {noise({2, 3, 4, 5}, 1)}).find("scale is 0"), std::string::npos);
  const std::string told = error_of("ResizeNearest_TRT", "1", by(0.125F), {noise({2, 3, 8, 5}, 1)});
  EXPECT_NE(told.find("the scale 0.125 leaves nothing of the extent 5 of axis 3"), std::string::npos) << told;
}

}  // namespace
}  // namespace kiln::plugins::testing
