#include "ir/loop_bound.h"

#include <gtest/gtest.h>

#include <random>

#include "base/str.h"
#include "sym/table.h"

namespace kiln::ir {
namespace {

class LoopBound : public ::testing::Test {
 protected:
  sym::Table table;
  const sym::Expr n = table.symbol("n", {1, 4, 100}), now = table.fresh("now"), k = table.symbol("k", {0, 2, 9});

  std::string bound(sym::Expr first, sym::Expr after, std::optional<sym::Expr> trips = {}) {
    const auto most = loop_bound(first, now, after, trips);
    return most ? str(*most) : "none";
  }
};

TEST_F(LoopBound, OfExtentsThatDoNotGrow) {
  EXPECT_EQ(bound(n, n + 1), "n + 1") << "whatever it was before";
  EXPECT_EQ(bound(n, now - 1), "n");
  EXPECT_EQ(bound(n, sym::max(now - 3, 0)), "n");
  EXPECT_EQ(bound(n, sym::floor_div(now, 2)), "n");
  EXPECT_EQ(bound(n, sym::ceil_div(now, 2)), "n");
  EXPECT_EQ(bound(n, sym::floor_div(now + 4, 3)), "max(n, 2)") << "a convolution of stride 3 over two of padding";
  EXPECT_EQ(bound(n, sym::max(sym::min(now, INT32_MAX) - sym::min(now, 1), 0)), "n") << "all but the first";
  EXPECT_EQ(bound(8, sym::min(now, 2)), "8") << "the first iteration may be none";
  EXPECT_EQ(bound(4, sym::min(sym::max(now - 1, 0), 1)), "4");
}
TEST_F(LoopBound, OfExtentsThatGrowToALargestOne) {
  EXPECT_EQ(bound(n, sym::max(now, k)), "max(n, k)");
  EXPECT_EQ(bound(n, sym::max(sym::max(now, k), 7)), "max(max(n, k), 7)");
  EXPECT_EQ(bound(1, sym::min(now + 1, 6)), "6");
  const sym::Expr broadcast = sym::max(n, now) * sym::min(sym::min(n, now), 1);
  EXPECT_EQ(bound(k, broadcast), "max(n, k)");
}
TEST_F(LoopBound, OfExtentsThatGrowByTheIteration) {
  EXPECT_EQ(bound(n, now + 2, sym::Expr(5)), "n + 10");
  EXPECT_EQ(bound(n, now + n, k), "n*k + n");
  EXPECT_EQ(bound(2, sym::max(now, 5) + 1, sym::Expr(3)), "9");
  EXPECT_EQ(bound(n, now + 1), "none") << "nobody knows how often";
  EXPECT_EQ(bound(n, now + 1, sym::Expr(INT64_MAX)), "none") << "a count that says there is none";
}
TEST_F(LoopBound, OfExtentsThatAreMultiplied) {
  EXPECT_EQ(bound(3, now * 2, sym::Expr(4)), "48");
  EXPECT_EQ(bound(n, now * 2, sym::Expr(3)), "8*n");
  EXPECT_EQ(bound(table.symbol("any"), now * 2, sym::Expr(3)), "8*any") << "before there is a profile";
  EXPECT_EQ(bound(3, now * 2, k), "none");
  EXPECT_EQ(bound(3, now * 2, sym::Expr(62)), "none") << "2^62 elements are no bound";
}

TEST_F(LoopBound, OfExpressionsThatAreReadTwice) {  // 2^40 paths lead to the extent
  sym::Expr after = now;
  for (int i = 0; i < 40; ++i) after = sym::max(sym::floor_div(after, 2), after - 1);
  EXPECT_EQ(bound(n, after), "none");
  EXPECT_EQ(bound(n, sym::max(sym::floor_div(now, 2), now - 1)), "n");
}

/// A bound is right if nothing that iterations do exceeds it: seeded steps, run from many extents.
TEST_F(LoopBound, HoldsOverAllIterations) {
  int found = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](size_t count) { return static_cast<int>(random() % count); };
    std::vector<sym::Expr> made{now, n, below(9)};
    for (int i = 0; i < 3; ++i) {
      const sym::Expr a = made[static_cast<size_t>(below(made.size()))];
      const sym::Expr b = made[static_cast<size_t>(below(made.size()))];
      // clang-format off
      const sym::Expr options[] = {a + b, a - b, sym::max(a, b), sym::min(a, b), sym::max(a - b, 0), a + 1,
                                   sym::floor_div(a, 2), sym::ceil_div(a, 3), a * sym::min(b, 1)};
      // clang-format on
      made.push_back(options[below(std::size(options))]);
    }
    const sym::Expr after = sym::max(made.back(), 0), first = made[static_cast<size_t>(1 + below(2))], trips = below(6);
    const auto most = loop_bound(first, now, after, trips);
    if (!most) continue;
    ++found;
    for (const int64_t at_n : {1, 3, 100}) {
      const auto value = [&](sym::Expr e, int64_t at_now) {
        const std::pair<sym::Expr, sym::Expr> at[] = {{n, at_n}, {now, at_now}};
        const sym::Expr known = sym::substitute(e, at);
        EXPECT_TRUE(known.is_const()) << "seed " << seed << str(": ", e, " is ", known);
        return known.constant().value_or(0);
      };
      int64_t extent = value(first, 0);
      for (int64_t i = 0; i <= trips.value(); ++i) {
        EXPECT_LE(extent, value(*most, 0)) << "seed " << seed << ", iteration " << i << str(": ", first, ", ", after);
        extent = value(after, extent);
      }
    }
  }
  EXPECT_GT(found, 1500);
}

}  // namespace
}  // namespace kiln::ir
