#include "backend/cpu/kernels/lanes/softmax.h"

#include <gtest/gtest.h>

#include "backend/cpu/kernels/lanes/testing.h"

namespace kiln::cpu {
namespace {

/// The result in double, in any place.
std::vector<double> expected(const SoftmaxShape& s, const TestTensor& x) {
  std::vector<double> y(static_cast<size_t>(s.outer * s.length * s.inner));
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t i = 0; i < s.inner; ++i) {
      const auto at = [&](int64_t k) { return (o * s.length + k) * s.inner + i; };
      double peak = -INFINITY, sum = 0;
      for (int64_t k = 0; k < s.length; ++k) peak = std::max(peak, x[at(k)]);
      for (int64_t k = 0; k < s.length; ++k) sum += std::exp(x[at(k)] - peak);
      for (int64_t k = 0; k < s.length; ++k) y[static_cast<size_t>(at(k))] = std::exp(x[at(k)] - peak) / sum;
    }
  return y;
}

void check(const SoftmaxShape& s) {
  const int64_t count = s.outer * s.length * s.inner;
  const TestTensor x = TestTensor::random(s.dtype, count, 7, 20);
  TestTensor y(s.dtype, count), in_place = x;
  Team team(2);
  softmax(team, s, x.data(), y.data());
  softmax(team, s, in_place.data(), in_place.data());
  EXPECT_EQ(y.bytes, in_place.bytes);
  const std::vector<double> wanted = expected(s, x);
  // exp and the sum to 2 units each, the quotient and the product to half a one; x - peak itself is rounded, by at most
  // half a unit of 40.
  for (int64_t i = 0; i < count; ++i) {
    const double w = wanted[static_cast<size_t>(i)];
    ASSERT_NEAR(y[i], w, w * (5 * 0x1p-24 + 2 * 20 * 0x1p-23) + y.rounding(w) + 2e-38)
        << i << " of " << s.outer << " " << s.length << " " << s.inner << " " << name_of(s.dtype);
  }
}

TEST(LanesSoftmax, Rows) {
  for_each_target([] {
    for (const DType dtype : kFloatTypes)
      for (const int64_t length : {1, 2, 7, 8, 15, 16, 17, 33, 128, 131, 1000, 4099})
        for (const int64_t outer : {1, 5}) check({outer, length, 1, dtype});
    check({3, 70'001, 1});
    check({3001, 10, 1});
  });
}
TEST(LanesSoftmax, Columns) {
  for_each_target([] {
    for (const DType dtype : kFloatTypes)
      for (const int64_t inner : {2, 3, 8, 16, 17, 31, 33, 50, 64, 65, 130})
        for (const int64_t length : {1, 5, 67}) check({2, length, inner, dtype});
    check({1, 1031, 77});
  });
}
TEST(LanesSoftmax, Nothing) {
  Team team(1);
  softmax(team, {0, 3, 1}, nullptr, nullptr);
  softmax(team, {3, 0, 1}, nullptr, nullptr);
}
TEST(LanesSoftmax, SpecialRows) {
  for_each_target([] {
    Team team(1);
    const auto run = [&](std::vector<float> x) {
      std::vector<float> y(x.size());
      softmax(team, {1, static_cast<int64_t>(x.size()), 1}, x.data(), y.data());
      return y;
    };
    EXPECT_EQ(run({-INFINITY, 0, -INFINITY, 0}), (std::vector<float>{0, 0.5, 0, 0.5}));
    EXPECT_EQ(run({-10'000, 0, -90, 0}), (std::vector<float>{0, 0.5, 0, 0.5}));
    EXPECT_EQ(run({1e30f, -1e30f}), (std::vector<float>{1, 0}));
    for (const std::vector<float>& x : {std::vector<float>{-INFINITY, -INFINITY}, {NAN, 1}, {1, NAN}, {INFINITY, 1}})
      EXPECT_TRUE(std::isnan(run(x)[0]));
  });
}
TEST(LanesSoftmax, SameBitsForAllTeams) {
  for (const SoftmaxShape& s : {SoftmaxShape{301, 129, 1}, SoftmaxShape{3, 65, 700}})
    expect_same_bits_for_team_sizes([&](Team& team) {
      const std::vector<float> x = random_floats(s.outer * s.length * s.inner, 3);
      std::vector<float> y(x.size());
      softmax(team, s, x.data(), y.data());
      return y;
    });
}

}  // namespace
}  // namespace kiln::cpu
