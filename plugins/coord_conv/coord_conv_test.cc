#include <gtest/gtest.h>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

Tensor with_coordinates(const Tensor& x) {
  const int64_t height = x.extents[2], width = x.extents[3], image = height * width;
  Tensor y{{x.extents[0], x.extents[1] + 2, height, width}, {}, x.type};
  for (int64_t n = 0; n < x.extents[0]; ++n) {
    const auto first = x.values.begin() + n * x.extents[1] * image;
    y.values.insert(y.values.end(), first, first + x.extents[1] * image);
    for (int64_t p = 0; p < image; ++p)
      y.values.push_back(-1 + 2 * static_cast<double>(p / width) / static_cast<double>(width - 1));
    for (int64_t p = 0; p < image; ++p)
      y.values.push_back(-1 + 2 * static_cast<double>(p % height) / static_cast<double>(height - 1));
  }
  return y;
}

TEST(CoordConv, AppendsRowsAndColumns) {
  for (const std::vector<int64_t>& extents : {std::vector<int64_t>{2, 3, 5, 5}, {1, 1, 3, 7}}) {
    const Tensor x = noise(extents, 1);
    expect_outputs("CoordConvAC", "1", {}, {x}, {with_coordinates(x)});
  }
}

TEST(CoordConv, TakesHalves) {
  const Tensor x = noise({2, 1, 5, 5}, 1, nv::DataType::kHALF);
  expect_outputs("CoordConvAC", "1", {}, {x}, {with_coordinates(x)}, 1e-3);
}

TEST(CoordConv, RefusesOtherRanks) {
  EXPECT_NE(error_of("CoordConvAC", "1", {}, {noise({2, 3, 4}, 1)}).find("input 0 has rank 3; 4 is needed"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
