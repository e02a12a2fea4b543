#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/lanes/exp_test.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/lanes/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {
void exp_all(const float* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int some = static_cast<int>(count - i < kLanes ? count - i : kLanes);
    store_some(exp(load_some(x + i, some)), y + i, some);
  }
}
void exp_to_zero_all(const float* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int some = static_cast<int>(count - i < kLanes ? count - i : kLanes);
    store_some(exp_to_zero(load_some(x + i, some)), y + i, some);
  }
}
}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backend/cpu/kernels/testing.h"

namespace kiln::cpu {
namespace {

std::vector<float> exp_of(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  KILN_DISPATCH(exp_all)(x.data(), y.data(), static_cast<int64_t>(x.size()));
  return y;
}

TEST(LanesExp, IsWithinTwoUnitsInTheLastPlace) {
  std::vector<float> x;
  for (uint32_t bits = 0; bits < 0x42b40000; bits += 4099)  // to 90, of both signs
    for (const uint32_t sign : {0u, 0x80000000u}) x.push_back(std::bit_cast<float>(bits | sign));
  for_each_target([&] {
    const std::vector<float> y = exp_of(x);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double wanted = std::exp(static_cast<double>(x[i]));
      if (wanted > 3.4028234e38) {
        EXPECT_EQ(y[i], INFINITY) << x[i];
        continue;
      }
      const float rounded = static_cast<float>(wanted);
      const double unit = std::nextafter(rounded, INFINITY) - static_cast<double>(rounded);
      worst = std::max(worst, std::fabs(y[i] - wanted) / unit);
    }
    EXPECT_LE(worst, 2);
  });
}
TEST(LanesExp, ToZero) {
  std::vector<float> x{0, -86.99f, -87.01f, -1000, -INFINITY, NAN};
  for (uint32_t bits = 0x80000000; bits < 0xc2ae0000; bits += 4099) x.push_back(std::bit_cast<float>(bits));  // to -87
  for_each_target([&] {
    const std::vector<float> wanted = exp_of(x);
    std::vector<float> y(x.size());
    KILN_DISPATCH(exp_to_zero_all)(x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i]))
        ASSERT_TRUE(std::isnan(y[i]));
      else
        ASSERT_EQ(y[i], x[i] < -87 ? 0 : wanted[i]) << x[i];
    }
  });
}
TEST(LanesExp, Limits) {
  for_each_target([&] {
    const std::vector<float> y = exp_of({0, -INFINITY, INFINITY, NAN, -200, 200});
    EXPECT_EQ(y[0], 1);
    EXPECT_EQ(y[1], 0);
    EXPECT_EQ(y[2], INFINITY);
    EXPECT_TRUE(std::isnan(y[3]));
    EXPECT_EQ(y[4], 0);
    EXPECT_EQ(y[5], INFINITY);
  });
}

}  // namespace
}  // namespace kiln::cpu
#endif
