#include "backend/cpu/kernels/lanes/normalize.h"

#include <gtest/gtest.h>

#include <functional>

#include "backend/cpu/kernels/lanes/testing.h"

namespace kiln::cpu {
namespace {

constexpr double kEpsilon = 1e-5;

/// Checks y against double: `set` gives each element's set of statistics, `factor` its index into scale and bias.
void expect_normalized(const TestTensor& x, const TestTensor& y, int64_t count, int64_t sets, Centering centering,
                       const std::vector<float>* scale, const std::vector<float>* bias,
                       const std::function<int64_t(int64_t)>& set, const std::function<int64_t(int64_t)>& factor) {
  std::vector<double> means(static_cast<size_t>(sets)), squares(means), peaks(means);
  const double each = static_cast<double>(count) / static_cast<double>(sets);
  if (centering == Centering::kMean)
    for (int64_t i = 0; i < count; ++i) means[static_cast<size_t>(set(i))] += x[i] / each;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(set(i));
    const double difference = x[i] - means[at];
    squares[at] += difference * difference / each;
    peaks[at] = std::max(peaks[at], std::fabs(x[i]));
  }
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(set(i));
    const auto f = static_cast<size_t>(factor(i));
    const double s = scale ? (*scale)[f] : 1, b = bias ? (*bias)[f] : 0;
    const double deviation = std::sqrt(squares[at] + kEpsilon), value = (x[i] - means[at]) / deviation * s;
    // The mean is rounded to a float and the sums to a few units; the rest is one rounding an operation.
    const double bound =
        (peaks[at] / deviation * std::fabs(s) * 4 + std::fabs(value) * 40 + std::fabs(b) * 2) * 0x1p-24;
    ASSERT_NEAR(y[i], value + b, bound + y.rounding(value + b)) << i << " " << name_of(x.dtype);
  }
}

void check_rows(RowNorm s, bool with_scale, bool with_bias, float center = 0.5f) {
  const int64_t count = s.rows * s.length;
  TestTensor x = TestTensor::random(s.dtype, count, 5, 2, center), y(s.dtype, count);
  const std::vector<float> scale = random_floats(s.length, 6), bias = random_floats(s.length, 7);
  Team team(2);
  s.epsilon = kEpsilon;
  normalize_rows(team, s, x.data(), with_scale ? scale.data() : nullptr, with_bias ? bias.data() : nullptr, y.data());
  expect_normalized(
      x, y, count, s.rows, s.centering, with_scale ? &scale : nullptr, with_bias ? &bias : nullptr,
      [&](int64_t i) { return i / s.length; }, [&](int64_t i) { return i % s.length; });
  normalize_rows(team, s, x.data(), with_scale ? scale.data() : nullptr, with_bias ? bias.data() : nullptr, x.data());
  EXPECT_EQ(x.bytes, y.bytes);  // in place
}

TEST(LanesNormalize, Rows) {
  for_each_target([] {
    for (const DType dtype : kFloatTypes)
      for (const Centering centering : {Centering::kMean, Centering::kNone})
        for (const int64_t length : {1, 3, 8, 16, 31, 96, 257, 768, 5003}) {
          check_rows({7, length, 0, centering, dtype}, true, true);
          check_rows({1, length, 0, centering, dtype}, false, false);
          check_rows({2, length, 0, centering, dtype}, true, false);
          check_rows({2, length, 0, centering, dtype}, false, true);
        }
    check_rows({1500, 24, 0}, true, true);
    check_rows({5, 770, 0}, true, true, 1000);  // far from zero
  });
}

enum class Order : uint8_t { kNchw, kNhwc };

void check_groups(GroupNorm s, Order order, bool with_factors = true) {
  const int64_t count = s.n * s.channels * s.plane;
  TestTensor x = TestTensor::random(s.dtype, count, 5, 2, 0.5f), y(s.dtype, count);
  const std::vector<float> scale = random_floats(s.channels, 6), bias = random_floats(s.channels, 7);
  const float* scales = with_factors ? scale.data() : nullptr;
  const float* biases = with_factors ? bias.data() : nullptr;
  Team team(2);
  s.epsilon = kEpsilon;
  if (order == Order::kNchw) {
    normalize_nchw(team, s, x.data(), scales, biases, y.data());
  } else {
    const TestWorkspace workspace(normalize_nhwc_workspace(s));
    normalize_nhwc(team, s, x.data(), scales, biases, y.data(), workspace.data());
  }
  const auto channel = [&](int64_t i) { return order == Order::kNchw ? i / s.plane % s.channels : i % s.channels; };
  expect_normalized(
      x, y, count, s.n * s.groups, s.centering, with_factors ? &scale : nullptr, with_factors ? &bias : nullptr,
      [&](int64_t i) { return i / (s.channels * s.plane) * s.groups + channel(i) / (s.channels / s.groups); }, channel);
}

TEST(LanesNormalize, Groups) {
  for_each_target([] {
    for (const Order order : {Order::kNchw, Order::kNhwc}) {
      for (const DType dtype : kFloatTypes)
        for (const int64_t plane : {1, 7, 49, 300})
          for (const int64_t groups : {1, 3, 6, 18, 36}) {
            check_groups({2, 36, plane, groups, 0, Centering::kMean, dtype}, order);
            check_groups({1, 36, plane, groups, 0, Centering::kNone, dtype}, order, false);
          }
      check_groups({1, 3, 5000, 3, 0}, order);
      check_groups({1, 131, 400, 131, 0}, order);
      check_groups({1, 64, 3000, 4, 0}, order);
    }
  });
}
TEST(LanesNormalize, Nothing) {
  Team team(1);
  normalize_rows(team, {0, 5}, nullptr, nullptr, nullptr, nullptr);
  normalize_nchw(team, {0, 4, 5, 2}, nullptr, nullptr, nullptr, nullptr);
  normalize_nhwc(team, {0, 4, 5, 2}, nullptr, nullptr, nullptr, nullptr, nullptr);
}
TEST(LanesNormalize, SameBitsForAllTeams) {
  expect_same_bits_for_team_sizes([](Team& team) {
    const std::vector<float> x = random_floats(300 * 129, 3);
    std::vector<float> y(x.size());
    normalize_rows(team, {300, 129}, x.data(), nullptr, nullptr, y.data());
    return y;
  });
  expect_same_bits_for_team_sizes([](Team& team) {
    const GroupNorm s{2, 32, 1000, 4};
    const std::vector<float> x = random_floats(s.n * s.channels * s.plane, 3);
    std::vector<float> y(x.size());
    const TestWorkspace workspace(normalize_nhwc_workspace(s));
    normalize_nhwc(team, s, x.data(), nullptr, nullptr, y.data(), workspace.data());
    return y;
  });
}

}  // namespace
}  // namespace kiln::cpu
