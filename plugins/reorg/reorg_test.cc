#include <gtest/gtest.h>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

class Reorg : public ::testing::TestWithParam<const char*> {
 protected:
  Attributes by_two = Attributes().set("stride", std::vector<int32_t>{2});
};

TEST_P(Reorg, MovesPixelsAsDarknetDoes) {
  constexpr int64_t kBatch = 2, kChannels = 8, kHeight = 4, kWidth = 6, kStride = 2, kK = kChannels / 4;
  const Tensor x = noise({kBatch, kChannels, kHeight, kWidth}, 1);
  Tensor y{{kBatch, kChannels * 4, kHeight / 2, kWidth / 2}, std::vector<double>(x.values.size())};
  size_t at = 0;
  for (int64_t n = 0; n < kBatch; ++n)
    for (int64_t i = 0; i < kStride; ++i)
      for (int64_t j = 0; j < kStride; ++j)
        for (int64_t k = 0; k < kK; ++k)
          for (int64_t h = 0; h < kHeight; ++h)
            for (int64_t w = 0; w < kWidth; ++w) {
              const int64_t row = h * kStride + i, column = w * kStride + j;
              const int64_t from = ((n * kK + k) * kHeight * kStride + row) * kWidth * kStride + column;
              y.values[at++] = x.values[static_cast<size_t>(from)];
            }
  expect_outputs("Reorg_TRT", GetParam(), by_two, {x}, {y});
  expect_outputs("Reorg_TRT", GetParam(), by_two, {in_halves(x)}, {in_halves(y)});
}

TEST_P(Reorg, RefusesImagesThatDoNotDivide) {
  EXPECT_NE(error_of("Reorg_TRT", GetParam(), by_two, {noise({1, 4, 3, 4}, 1)})
                .find("axis 2 of input 0 has to be divisible by 2, the stride; it is 3"),
            std::string::npos);
  EXPECT_NE(error_of("Reorg_TRT", GetParam(), by_two, {noise({1, 6, 4, 4}, 1)})
                .find("axis 1 of input 0 has to be divisible by 4, the square of the stride; it is 6"),
            std::string::npos);
  EXPECT_NE(
      error_of("Reorg_TRT", GetParam(), Attributes().set("stride", std::vector<int32_t>{0}), {noise({1, 4, 4, 4}, 1)})
          .find("stride is 0"),
      std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Versions, Reorg, ::testing::Values("1", "2"));

}  // namespace
}  // namespace kiln::plugins::testing
