#include "sym/assumption.h"

#include <gtest/gtest.h>

#include "sym/table.h"

namespace kiln::sym {
namespace {

struct AssumptionTest : testing::Test {
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
            "n = big (Add 'x') holds for no values of the symbols within their bounds");
  EXPECT_FALSE(assume(list, {Relation::kNotEqual, n, n, ""}));
  EXPECT_FALSE(assume(list, {Relation::kDivides, 2, 2 * n + 1, ""}));
  EXPECT_EQ(assume(list, {Relation::kEqual, n, floor_div(m, 0), "y"}).error().message,
            "n = invalid (y): the divisor is zero");
  EXPECT_TRUE(list.empty());
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

}  // namespace
}  // namespace kiln::sym
