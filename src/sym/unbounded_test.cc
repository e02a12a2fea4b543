#include "sym/unbounded.h"

#include <gtest/gtest.h>

#include "sym/table.h"

namespace kiln::sym {
namespace {

TEST(Unbounded, IsOneSymbolOfATable) {
  Table table;
  const Expr n = table.symbol("n", {1, 8, 64}), u = unbounded(table);
  EXPECT_EQ(u, unbounded(table));
  EXPECT_TRUE(reads_unbounded(max(n, u + 1)));
  EXPECT_FALSE(reads_unbounded(n * 2));
}

TEST(Unbounded, GrowsUnlessSomethingLimitsIt) {
  Table table;
  const Expr n = table.symbol("n", {1, 8, 64}), s = table.fresh("size", {0, 64, kMostUnbounded});
  const Expr t = table.fresh("number", {-kMostUnbounded, 64, kMostUnbounded});
  EXPECT_TRUE(grows_without_bound(s));
  EXPECT_TRUE(grows_without_bound(floor_div(s, 320) + n));
  EXPECT_TRUE(grows_without_bound(s * n));
  EXPECT_TRUE(grows_without_bound(max(s - t, 0)));
  EXPECT_TRUE(grows_without_bound(n - t)) << "t may be far below 0";
  EXPECT_FALSE(grows_without_bound(n - s));
  EXPECT_FALSE(grows_without_bound(min(s, n)));
  EXPECT_FALSE(grows_without_bound(min(max(t, 0), n) + 1));
  EXPECT_FALSE(grows_without_bound(n * 4));
}

}  // namespace
}  // namespace kiln::sym
