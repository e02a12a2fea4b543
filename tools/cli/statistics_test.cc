#include "statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace kiln::cli {
namespace {

TEST(Statistics, KnownAnswers) {
  const std::vector<double> percentiles{0, 50, 90, 100};
  const Summary s = summarize({4, 1, 3, 2}, percentiles);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.max, 4);
  EXPECT_EQ(s.mean, 2.5);
  EXPECT_EQ(s.median, 2.5);
  EXPECT_EQ(s.percentiles, (std::vector<double>{1, 2, 4, 4}));  // leaves out 4, 2, 0 and 0 figures
  EXPECT_NEAR(s.variation, 100 * std::sqrt(1.25) / 2.5, 1e-12);
}

TEST(Statistics, PercentilesOfAHundred) {
  std::vector<double> figures(100);
  std::iota(figures.begin(), figures.end(), 1);
  EXPECT_EQ(percentile_of(figures, 90), 90);   // 1 - 0.9f is a little more than 0.1: ten are left out
  EXPECT_EQ(percentile_of(figures, 99), 100);  // 1 - 0.99f is a little less than 0.01: none is
  EXPECT_EQ(percentile_of(figures, 0), 1);
}

TEST(Statistics, OneFigureAndNone) {
  const std::vector<double> percentiles{99};
  const Summary one = summarize({7}, percentiles);
  EXPECT_EQ(one.median, 7);
  EXPECT_EQ(one.percentiles[0], 7);
  EXPECT_EQ(one.variation, 0);
  EXPECT_TRUE(std::isinf(summarize({}, percentiles).mean));
}

TEST(Statistics, LatencyLeavesWaitingOut) {
  Trace trace;
  trace.h2d_start = 1, trace.h2d_end = 2, trace.compute_start = 5, trace.compute_end = 9, trace.d2h_start = 20,
  trace.d2h_end = 20.5;
  EXPECT_EQ(trace.latency(), 5.5);
}

}  // namespace
}  // namespace kiln::cli
