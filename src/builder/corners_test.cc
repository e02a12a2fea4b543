#include "builder/corners.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sym/table.h"

namespace kiln {
namespace {

/// A plan of one input whose axes are symbols s0, s1, ... of these ranges.
struct Sample {
  explicit Sample(const std::vector<std::pair<int64_t, int64_t>>& ranges) {
    plan::InputRange range;
    for (const auto& [least, most] : ranges) {
      const int axis = static_cast<int>(symbols.size());
      symbols.push_back(table.symbol(str('s', axis)));
      plan.symbols.push_back({str('s', axis), 0, axis, -1});
      range.min.push_back(least);
      range.max.push_back(most);
    }
    range.opt = range.max;
    profile.ranges = {range};
    profile.value_ranges.resize(1);
  }
  void tie(sym::Relation relation, sym::Expr a, sym::Expr b) {
    plan.guards.push_back(sym::Guard::compile({relation, a, b, ""}));
  }
  std::vector<Extents> corners() const { return largest_symbols(plan, profile); }

  sym::Table table;
  std::vector<sym::Expr> symbols;
  plan::Plan plan;
  plan::Profile profile;
};

TEST(Corners, AreTheMaximaWhereNothingIsTied) {
  EXPECT_EQ(Sample({{1, 8}, {2, 5}}).corners(), (std::vector<Extents>{{8, 5}}));
}
TEST(Corners, OfExtentsThatBroadcast) {
  Sample sample({{1, 3}, {1, 8}, {0, 7}});
  sample.tie(sym::Relation::kBroadcast, sample.symbols[0], sample.symbols[1]);
  EXPECT_EQ(sample.corners(), (std::vector<Extents>{{1, 8, 7}, {3, 3, 7}, {3, 1, 7}, {1, 3, 7}, {1, 1, 7}}));
}
TEST(Corners, OfExtentsThatAreEqual) {
  Sample sample({{2, 3}, {2, 8}});
  sample.tie(sym::Relation::kEqual, sample.symbols[0], sample.symbols[1]);
  EXPECT_EQ(sample.corners(), (std::vector<Extents>{{3, 3}}));
}
/// Data decides up to as many as the first axis has, which the second one keeps from its maximum.
TEST(Corners, SizesAreThoseOfTheirPoint) {
  Sample sample({{2, 8}, {2, 5}});
  sample.tie(sym::Relation::kEqual, sample.symbols[0], sample.symbols[1]);
  sample.plan.symbols.push_back({"count", -1, -1, -1});
  plan::Step& step = sample.profile.steps.emplace_back();
  step.sizes.push_back({.symbol = 2, .most = sym::Program::compile(sample.symbols[0])});
  EXPECT_EQ(sample.corners(), (std::vector<Extents>{{5, 5, 5}}));
}
TEST(Corners, OfABodyThatNeedsAnExtent) {
  Sample sample({{1, 8}, {2, 5}});
  const sym::Guard four = sym::Guard::compile({sym::Relation::kEqual, sample.symbols[0], 4, ""});
  EXPECT_EQ(largest_symbols(sample.plan, sample.profile, {&four, 1}), (std::vector<Extents>{{4, 5}}));
}
TEST(Corners, OfManyGroupsAreNotAllTheirCombinations) {
  Sample sample(std::vector<std::pair<int64_t, int64_t>>(40, {1, 8}));
  for (size_t i = 0; i < 40; i += 2) sample.tie(sym::Relation::kBroadcast, sample.symbols[i], sample.symbols[i + 1]);
  const auto corners = sample.corners();
  EXPECT_EQ(corners[0], Extents(40, 8));
  EXPECT_LE(corners.size(), 32u);
}
TEST(Corners, OfOneLargeGroup) {  // whose maxima all differ
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (int64_t i = 0; i < 24; ++i) ranges.emplace_back(1, 3 + i);
  Sample sample(ranges);
  sym::Expr all = sample.symbols[0];
  for (size_t i = 1; i < sample.symbols.size(); ++i) {
    sample.tie(sym::Relation::kBroadcast, all, sample.symbols[i]);
    all = sym::max(all, sample.symbols[i]);
  }
  const auto corners = sample.corners();
  ASSERT_FALSE(corners.empty());
  EXPECT_TRUE(agrees(sample.plan, sample.profile, corners[0]));
  // Where v is what all have who can, (24 - (v - 3)) * v + (v - 3) is largest at v = 14.
  Extents largest(24, 14);
  std::fill_n(largest.begin(), 11, 1);
  EXPECT_EQ(corners[0], largest);
  Extents last_alone(24, 1);  // the longest axis that there is
  last_alone.back() = 26;
  EXPECT_EQ(std::ranges::count(corners, last_alone), 1);
}

}  // namespace
}  // namespace kiln
