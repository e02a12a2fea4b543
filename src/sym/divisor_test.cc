#include "sym/divisor.h"

#include <gtest/gtest.h>

#include "sym/table.h"

namespace kiln::sym {
namespace {

TEST(KnownDivisor, OfFactorsAndSums) {
  Table table;
  const Expr n = table.symbol("n", kAnyExtent), m = table.symbol("m", kAnyExtent);
  EXPECT_EQ(known_divisor(Expr(0)), 0);
  EXPECT_EQ(known_divisor(Expr(-48)), 48);
  EXPECT_EQ(known_divisor(n), 1);
  EXPECT_EQ(known_divisor(n * 24 * m), 24);
  EXPECT_EQ(known_divisor(n * 24 + m * 16 + 8), 8);
  EXPECT_EQ(known_divisor(n * 24 + 0), 24);
  EXPECT_EQ(known_divisor(min(n * 12, Expr(768))), 12);
  EXPECT_EQ(known_divisor(n * 64 * (Expr(1) - equal(m, 1))), 64);
}
TEST(KnownDivisor, DividesWhateverTheSymbolsAre) {
  Table table;
  const Expr n = table.symbol("n", kAnyExtent), m = table.symbol("m", kAnyExtent);
  for (const Expr e : {n * 6 + m * 9, (n + 1) * 4 * m, max(n * 10, m * 15), floor_div(n * 8, 3) * 2})
    for (int64_t i = 0; i < 50; ++i) {
      const int64_t at[] = {i * 7 % 13, i * 5 % 11};
      EXPECT_EQ(*evaluate(e, at) % known_divisor(e), 0) << i;
    }
}

}  // namespace
}  // namespace kiln::sym
