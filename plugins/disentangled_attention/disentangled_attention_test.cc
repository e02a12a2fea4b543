#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

int64_t place(int64_t distance, int64_t span) {
  const auto middle = static_cast<double>(span / 2), d = static_cast<double>(std::abs(distance));
  double bucket = d;
  if (d > middle)
    bucket = middle +
             std::ceil((middle - 1) * std::log(d / middle) / std::log((2 * static_cast<double>(span) - 1) / middle));
  const auto whole = static_cast<int64_t>(distance < 0 ? -bucket : bucket);
  return std::clamp<int64_t>(whole + span, 0, 2 * span - 1);
}

class DisentangledAttention : public ::testing::TestWithParam<const char*> {};

TEST_P(DisentangledAttention, AddsWhatDistancesSay) {
  constexpr int64_t kBatch = 2, kLength = 23, kSpan = 8;
  const Tensor c2c = noise({kBatch, kLength, kLength}, 1), c2p = noise({kBatch, kLength, 2 * kSpan}, 2),
               p2c = noise({kBatch, kLength, 2 * kSpan}, 3);
  Tensor y = c2c;
  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t i = 0; i < kLength; ++i)
      for (int64_t j = 0; j < kLength; ++j) {
        const auto at = [&](const Tensor& x, int64_t row) {
          return x.values[static_cast<size_t>((b * kLength + row) * 2 * kSpan + place(i - j, kSpan))];
        };
        double& value = y.values[static_cast<size_t>((b * kLength + i) * kLength + j)];
        value = 0.25 * (value + at(c2p, i) + at(p2c, j));
      }
  const Attributes attributes =
      Attributes().set("span", std::vector<int32_t>{kSpan}).set("factor", std::vector<float>{0.25F});
  expect_outputs("DisentangledAttention_TRT", GetParam(), attributes, {c2c, c2p, p2c}, {y});
  expect_outputs("DisentangledAttention_TRT", GetParam(), attributes, in_halves({c2c, c2p, p2c}), {in_halves(y)},
                 kHalfTolerance);
}

TEST_P(DisentangledAttention, RefusesOtherSpans) {
  const Tensor x = noise({1, 4, 4}, 1), p = noise({1, 4, 8}, 2);
  EXPECT_NE(error_of("DisentangledAttention_TRT", GetParam(),
                     Attributes().set("span", std::vector<int32_t>{3}).set("factor", std::vector<float>{1}), {x, p, p})
                .find("axis 2 of input 1 has to be 6 long, twice the span; it is 8"),
            std::string::npos);
}

TEST_P(DisentangledAttention, RefusesOtherLengths) {
  const Attributes fields = Attributes().set("span", std::vector<int32_t>{4}).set("factor", std::vector<float>{1});
  const auto refusal = [&](std::vector<int64_t> c2c) {
    return error_of("DisentangledAttention_TRT", GetParam(), fields,
                    {noise(std::move(c2c), 1), noise({1, 4, 8}, 2), noise({1, 4, 8}, 3)});
  };
  EXPECT_NE(refusal({1, 1, 4}).find("axis 2 of input 0 has to be as long as axis 1 of input 0; it is 4, not 1"),
            std::string::npos);
  EXPECT_NE(refusal({1, 3, 3}).find("axis 1 of input 1 has to be as long as axis 1 of input 0; it is 4, not 3"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Versions, DisentangledAttention, ::testing::Values("1", "2"));

}  // namespace
}  // namespace kiln::plugins::testing
