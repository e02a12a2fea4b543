#include "sym/assumption.h"

#include <gtest/gtest.h>

#include "sym/table.h"

namespace kiln::sym {
namespace {

struct AssumptionTest : ::testing::Test {
  Table table;
  Expr n = table.symbol("n", {1, 4, 8}), m = table.symbol("m", {1, 4, 8}), big = table.symbol("big", {9, 9, 20});
  std::vector<Assumption> list;
};

TEST_F(AssumptionTest, OnlyWhatIsOpenIsKept) {
  EXPECT_TRUE(assume(list, {Relation::kEqual, n, n, "a"}));
  EXPECT_TRUE(assume(list, {Relation::kNotEqual, big, 1, "b"}));
  EXPECT_TRUE(assume(list, {Relation::kLessEqual, n, big, "c"}));
  EXPECT_TRUE(assume(list, {Relation::kDivides, 4, 8 * n, "d"}));
  EXPECT_TRUE(list.empty());
  EXPECT_TRUE(assume(list, {Relation::kEqual, n, m, "Add 'x' broadcasts axis 0"}));
  EXPECT_TRUE(assume(list, {Relation::kEqual, m, n, "again"}));
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(str(list[0]), "n = m (Add 'x' broadcasts axis 0)");
  EXPECT_TRUE(assume(list, {Relation::kLessEqual, n, m, ""}));
  EXPECT_TRUE(assume(list, {Relation::kLessEqual, m, n, ""}));
  EXPECT_EQ(list.size(), 3u);
}

TEST_F(AssumptionTest, WhatBoundsDisproveIsAnError) {
  EXPECT_EQ(assume(list, {Relation::kEqual, n, big, "Add 'x'"}).error().message,
            "n = big (Add 'x') cannot hold: the left side lies in [1, 8], the right side lies in [9, 20]");
  EXPECT_EQ(assume(list, {Relation::kLessEqual, 5, 3, "slices"}).error().message, "5 <= 3 (slices) does not hold");
  EXPECT_FALSE(assume(list, {Relation::kNotEqual, n, n, ""}));
  EXPECT_FALSE(assume(list, {Relation::kDivides, 2, 2 * n + 1, ""}));
  EXPECT_EQ(assume(list, {Relation::kEqual, n, floor_div(m, 0), "y"}).error().message,
            "n = invalid (y): the divisor is zero");
  EXPECT_TRUE(list.empty());
}

TEST_F(AssumptionTest, WhatIsNeverPossibleSaysWhyAlone) {
  const Guard never = Guard::compile({Relation::kEqual, 0, 1, "a branch that cannot run"});
  EXPECT_EQ(never.check({}).error().message, "a branch that cannot run");
}

TEST_F(AssumptionTest, GuardsCheckNumbers) {
  const Guard equal = Guard::compile({Relation::kEqual, n, m, "Add 'x'"});
  EXPECT_TRUE(equal.check(std::vector<int64_t>{3, 3}));
  EXPECT_EQ(equal.check(std::vector<int64_t>{3, 4}).error().message,
            "n = m (Add 'x') does not hold: the left side is 3, the right side 4");
  const Guard divides = Guard::compile({Relation::kDivides, n, m, ""});
  EXPECT_TRUE(divides.check(std::vector<int64_t>{2, 6}));
  EXPECT_TRUE(divides.check(std::vector<int64_t>{0, 0}));
  EXPECT_FALSE(divides.check(std::vector<int64_t>{0, 6}));
  EXPECT_FALSE(divides.check(std::vector<int64_t>{4, 6}));
  EXPECT_TRUE(divides.check(std::vector<int64_t>{-1, INT64_MIN}));
  EXPECT_FALSE(Guard::compile({Relation::kNotEqual, n, 1, ""}).check(std::vector<int64_t>{1}));
}

TEST_F(AssumptionTest, OneOrAnother) {
  EXPECT_TRUE(assume(list, {Relation::kOneOr, 1, big, ""}));
  EXPECT_TRUE(assume(list, {Relation::kOneOr, n, n, ""}));
  EXPECT_TRUE(list.empty());
  EXPECT_FALSE(assume(list, {Relation::kOneOr, big, 4, "never"}));
  EXPECT_TRUE(assume(list, {Relation::kOneOr, n, big, "only 1 is left"}));
  EXPECT_TRUE(assume(list, {Relation::kOneOr, n, 4, "Add 'x'"}));
  EXPECT_TRUE(assume(list, {Relation::kOneOr, n, m, ""}));
  EXPECT_TRUE(assume(list, {Relation::kOneOr, m, n, "not the same"}));
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(str(list[1]), "n is 1 or 4 (Add 'x')");
  const Guard guard = Guard::compile(list[1]);
  EXPECT_TRUE(guard.check(std::vector<int64_t>{1}));
  EXPECT_TRUE(guard.check(std::vector<int64_t>{4}));
  EXPECT_EQ(guard.check(std::vector<int64_t>{3}).error().message,
            "n is 1 or 4 (Add 'x') does not hold: the left side is 3, the right side 4");
}
TEST_F(AssumptionTest, EqualOrOneOfThemOne) {
  EXPECT_TRUE(assume(list, {Relation::kBroadcast, 1, big, ""}));
  EXPECT_FALSE(assume(list, {Relation::kBroadcast, big, 4, "never"}));
  EXPECT_TRUE(list.empty());
  EXPECT_TRUE(assume(list, {Relation::kBroadcast, n, m, "Add 'x'"}));
  EXPECT_TRUE(assume(list, {Relation::kBroadcast, m, n, "the same"}));
  ASSERT_EQ(list.size(), 1u);
  const Guard guard = Guard::compile(list[0]);
  for (const auto& [a, b] : {std::pair(3, 3), std::pair(1, 3), std::pair(3, 1), std::pair(1, 0)})
    EXPECT_TRUE(guard.check(std::vector<int64_t>{a, b})) << a << ' ' << b;
  EXPECT_EQ(guard.check(std::vector<int64_t>{3, 2}).error().message,
            "n broadcasts with m (Add 'x') does not hold: the left side is 3, the right side 2");
  EXPECT_FALSE(guard.check(std::vector<int64_t>{0, 2}));
}

}  // namespace
}  // namespace kiln::sym
