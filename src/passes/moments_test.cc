#include "passes/moments.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kiln::passes {
namespace {

void expect(const Moments& found, double rms, double mean) {
  EXPECT_NEAR(found.rms, rms, 1e-3 * rms);
  EXPECT_NEAR(found.mean, mean, 1e-3 * rms);
}

TEST(Moments, OfSumsAndProducts) {
  expect(sum_of({3, 0}, {4, 0}), 5, 0);
  expect(sum_of({3, 3}, {4, 4}), 7, 7);
  expect(sum_of({3, 3}, negative_of({3, 3})), 0, 0);
  expect(product_of({3, 1}, {4, -2}), 12, -2);
  expect(sum_of_terms(100, {2, 0}), 20, 0);
  expect(sum_of_terms(100, {2, 2}), 200, 200);
  expect(sum_of_terms(100, {5, 3}), std::hypot(300, 40), 300);
}

TEST(Moments, OfFunctionsOfNormalDistributions) {
  expect(larger_of({1, 0}, {0, 0}), 1, 0.39894);
  expect(larger_of({1, 0}, {1, 0}), 1, 0.56419);  // 1 / sqrt(pi)
  expect(larger_of({10, 10}, {0, 0}), 10, 10);
  expect(larger_of({2, 2}, {1, 1}), 2, 2);
  expect(square_of({2, 0}), std::sqrt(3) * 4, 4);
  expect(square_of({2, 2}), 4, 4);
  expect(magnitude_of({1, 0}), 1, 0.7979);
  expect(magnitude_of({2, -2}), 2, 2);
  expect(exponential_of({1, 0}), std::exp(1), std::exp(0.5));
  expect(exponential_of({20, 0}), std::exp(60), std::exp(60));
  expect(power_of({4, 4}, 0.5), 2, 2);
  expect(power_of({2, -2}, 3), 8, -8);
  expect(power_of({2, -2}, -1), 0.5, -0.5);
}

TEST(Moments, StayFinite) {
  const Moments large = bounded(INFINITY, -INFINITY);
  EXPECT_EQ(large.rms, 1e30);
  EXPECT_EQ(large.mean, -1e30);
  EXPECT_EQ(bounded(NAN, NAN).mean, 0);
  EXPECT_EQ(product_of(large, large).rms, 1e30);
  EXPECT_EQ(exponential_of(large).rms, exponential_of(large).rms) << "no NaN";
  EXPECT_EQ(power_of({0, 0}, -1).rms, 1e30);
  EXPECT_EQ(sum_of_terms(1e9, large).rms, 1e30);
}

}  // namespace
}  // namespace kiln::passes
