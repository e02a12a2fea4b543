#include "sym/broadcast.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sym/table.h"

namespace kiln::sym {
namespace {

/// Numpy's rule; nothing where the extents do not broadcast.
std::optional<int64_t> by_hand(std::span<const int64_t> extents) {
  int64_t result = 1;
  for (const int64_t e : extents)
    if (e != 1) {
      if (result != 1 && result != e) return std::nullopt;
      result = e;
    }
  return result;
}

struct BroadcastTest : ::testing::Test {
  Table table;
  Expr p = table.symbol("p"), q = table.symbol("q"), r = table.symbol("r");  // may be 0
  Expr a = table.symbol("a", {1, 4, 8}), b = table.symbol("b", {1, 4, 8});
};

TEST_F(BroadcastTest, IsNumpysRule) {
  const Expr all = broadcast(broadcast(p, q), r), with_product = broadcast(2 * p, q);
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 5; ++j) {
      const int64_t two[] = {2 * i, j};
      const int64_t symbols[] = {i, j, 1, 0, 0};
      if (const auto wanted = by_hand(two)) {
        EXPECT_EQ(evaluate(with_product, symbols).value(), *wanted) << i << ' ' << j;
      }
      for (int64_t k = 0; k < 5; ++k) {
        const int64_t three[] = {i, j, k};
        const int64_t at[] = {i, j, k, 0, 0};
        if (const auto wanted = by_hand(three)) {
          EXPECT_EQ(evaluate(all, at).value(), *wanted) << i << ' ' << j << ' ' << k;
        }
      }
    }
}

TEST_F(BroadcastTest, HasOneForm) {
  const Expr pq = broadcast(p, q);
  EXPECT_EQ(broadcast(q, p), pq);
  EXPECT_EQ(broadcast(pq, p), pq);
  EXPECT_EQ(broadcast(q, pq), pq);
  EXPECT_EQ(broadcast(pq, pq), pq);
  EXPECT_EQ(broadcast(pq, r), broadcast(p, broadcast(r, q)));
  EXPECT_EQ(broadcast(broadcast(pq, r), broadcast(r, p)), broadcast(pq, r));
  EXPECT_EQ(broadcast(p, 1), p);
  EXPECT_EQ(broadcast(1, p), p);
}

TEST_F(BroadcastTest, IsAMaximumWhereNothingIsEmpty) {
  EXPECT_EQ(broadcast(a, b), max(a, b));
  EXPECT_EQ(broadcast(broadcast(a, b), 2 * a), max(2 * a, b));
  EXPECT_EQ(str(broadcast(a, b)), "max(a, b)");
  EXPECT_EQ(broadcast(a, b).min(), 1);
  EXPECT_EQ(broadcast(a, b).max(), 8);
}

TEST_F(BroadcastTest, DissolvesInAQuotient) {
  EXPECT_EQ(floor_div(broadcast(p, q) * 12, 4), 3 * broadcast(p, q));
  EXPECT_EQ(floor_div(broadcast(p, q) * r, r), broadcast(p, q));
}

TEST_F(BroadcastTest, WhatIsAtMostOneIsAFactor) {
  const Expr last = min(p, 1);  // x[-1:]
  EXPECT_EQ(broadcast(last, q), last * q);
  EXPECT_EQ(broadcast(q, last), last * q);
  EXPECT_EQ(broadcast(last, p), p);
}

TEST_F(BroadcastTest, NarrowedSymbolsGiveTheNarrowForm) {  // as a network's expressions do under a profile
  Table narrow;
  const Expr x = narrow.symbol("p", {1, 2, 4}), y = narrow.symbol("q", {1, 2, 4}), z = narrow.symbol("r", {2, 2, 4});
  const std::pair<Expr, Expr> replaced[] = {{p, x}, {q, y}, {r, z}}, united[] = {{p, x}, {q, x}, {r, z}};
  EXPECT_EQ(substitute(broadcast(p, q), replaced), broadcast(x, y));
  EXPECT_EQ(substitute(broadcast(broadcast(p, q), r), replaced), broadcast(broadcast(x, y), z));
  EXPECT_EQ(substitute(broadcast(p, q), united), x);
}

}  // namespace
}  // namespace kiln::sym
