#include <gtest/gtest.h>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

TEST(PillarScatter, WritesValidPillars) {
  const Tensor pillars = noise({2, 3, 2}, 1), count = ints({2}, {2, 3});
  const Tensor places = ints({2, 3, 4}, {0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 3, 3, 1, 0, 2, 1, 1, 0, 3, 4, 1, 0, 0, 4});
  constexpr size_t kHeight = 4, kWidth = 5;
  Tensor y{{2, 2, kHeight, kWidth}, std::vector<double>(2 * 2 * kHeight * kWidth)};
  for (size_t n = 0; n < 2; ++n)
    for (size_t p = 0; p < static_cast<size_t>(count.values[n]); ++p)
      for (size_t c = 0; c < 2; ++c) {
        const double* const place = &places.values[(n * 3 + p) * 4];
        const size_t pixel = static_cast<size_t>(place[2]) * kWidth + static_cast<size_t>(place[3]);
        y.values[(n * 2 + c) * kHeight * kWidth + pixel] = pillars.values[(n * 3 + p) * 2 + c];
      }
  const Attributes attributes = Attributes().set("dense_shape", std::vector<int32_t>{kHeight, kWidth});
  expect_outputs("PillarScatterPlugin", "1", attributes, {pillars, places, count}, {y});
  expect_outputs("PillarScatterPlugin", "1", attributes, in_halves({pillars, places, count}), {in_halves(y)});
}

TEST(PillarScatter, RefusesOtherShapes) {
  EXPECT_NE(error_of("PillarScatterPlugin", "1", Attributes().set("dense_shape", std::vector<int32_t>{4}),
                     {noise({1, 1, 1}, 1), ints({1, 1, 4}, {0, 0, 0, 0}), ints({1}, {1})})
                .find("dense_shape has 1 numbers"),
            std::string::npos);
  EXPECT_NE(error_of("PillarScatterPlugin", "1", Attributes().set("dense_shape", std::vector<int32_t>{65'536, 32'768}),
                     {noise({1, 1, 1}, 1), ints({1, 1, 4}, {0, 0, 0, 0}), ints({1}, {1})})
                .find("dense_shape is 65536, 32768; 2147483646 pixels at most are possible"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
