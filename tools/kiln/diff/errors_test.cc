#include "kiln/diff/errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kiln::diff {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

TEST(Errors, ByHand) {
  const double a[] = {1, 2.5, -4}, b[] = {1, 2, -5};
  const Errors errors = compare(a, b);
  EXPECT_EQ(errors.max_abs, 1);
  EXPECT_EQ(errors.worst, 2);
  EXPECT_EQ(errors.worst_a, -4);
  EXPECT_EQ(errors.relative(), 0.2);
  EXPECT_EQ(errors.mean_abs(), 0.5);
  EXPECT_NEAR(errors.cosine(), (1 + 5 + 20) / std::sqrt((1 + 6.25 + 16) * (1 + 4 + 25)), 1e-15);
}

TEST(Errors, WhatIsNotFiniteOnOneSideIsBroken) {
  const double a[] = {kNaN, kInf, -kInf, kNaN, 1}, b[] = {kNaN, kInf, kInf, 3, kNaN};
  const Errors errors = compare(a, b);
  EXPECT_EQ(errors.broken, 3);
  EXPECT_EQ(errors.worst, 2);
  EXPECT_EQ(errors.nan_a, 2);
  EXPECT_EQ(errors.nan_b, 2);
  EXPECT_EQ(errors.inf_b, 2);
  EXPECT_EQ(errors.compared, 0);
}

TEST(Errors, OverflowOfHalfIsCounted) {
  const double a[] = {kInf, 65504, 70000, 65504, kNaN}, b[] = {131072, -90000, 70000, 65504, kInf};
  const Errors errors = compare(a, b);
  EXPECT_EQ(errors.beyond_half, 3);  // 65504 itself is FP16's, and what is infinite in truth is nobody's fault
  EXPECT_EQ(errors.overflowed, 2);
  EXPECT_EQ(errors.largest_overflowed, 131072);
  EXPECT_EQ(errors.worst_overflowed, 0);
}

TEST(Errors, NothingIsOffInNothing) {
  const Errors errors = compare({}, {});
  EXPECT_EQ(errors.relative(), 0);
  EXPECT_EQ(errors.cosine(), 1);
  const double zeros[] = {0, 0}, one[] = {0, 1};
  EXPECT_EQ(compare(zeros, zeros).relative(), 0);
  EXPECT_TRUE(std::isinf(compare(one, zeros).relative()));
}

}  // namespace
}  // namespace kiln::diff
