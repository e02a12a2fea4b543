#include "runtime/fixed_shapes.h"

#include <gtest/gtest.h>

#include "sym/program_words.h"
#include "sym/table.h"

namespace kiln::runtime {
namespace {

/// A plan of one input whose axes are the symbols s0, s1, ... of these ranges.
struct Sample {
  explicit Sample(const std::vector<std::pair<int64_t, int64_t>>& ranges) {
    plan::IoTensor& input = plan.inputs.emplace_back();
    plan::InputRange range;
    for (const auto& [least, most] : ranges) {
      const int axis = static_cast<int>(symbols.size());
      symbols.push_back(table.symbol(str('s', axis)));
      plan.symbols.push_back({str('s', axis), 0, axis, -1});
      input.extents.push_back(sym::Program::compile(symbols.back()));
      range.min.push_back(least);
      range.max.push_back(most);
    }
    range.opt = range.max;
    profile.ranges = {range};
    profile.value_ranges.resize(1);
  }
  Extents extents(std::initializer_list<sym::Expr> of) const {
    std::vector<sym::Program> programs;
    for (const sym::Expr& e : of) programs.push_back(sym::Program::compile(e));
    return FixedSymbols(plan, profile).extents(programs);
  }

  sym::Table table;
  std::vector<sym::Expr> symbols;
  plan::Plan plan;
  plan::Profile profile;
};

TEST(FixedSymbols, AreThoseOfOneValue) {
  const Sample sample({{3, 3}, {2, 8}, {5, 5}});
  const auto& s = sample.symbols;
  EXPECT_EQ(sample.extents({s[0], s[1], s[2], s[0] * s[2] + 1, s[0] + s[1], sym::Expr(7)}),
            (Extents{3, -1, 5, 16, -1, 7}));
}

/// Numbers of kept values, and how many there are, are no symbols.
TEST(FixedSymbols, OfProgramsThatKeepValues) {
  const Sample sample({{3, 3}, {4, 4}, {1, 9}, {6, 6}, {2, 2}, {1, 100}});
  const auto& s = sample.symbols;
  const auto shared = [&](const sym::Expr& symbol) {
    const sym::Expr half = sym::floor_div(symbol + 7, 2);
    return sym::max(half * s[1], half * s[3] - s[4]) + sym::floor_div(half, s[0]);
  };
  const sym::Expr of_fixed = shared(s[0] * s[3]), of_free = shared(s[5]), of_other_free = shared(s[2] * s[3]);
  for (const sym::Expr& e : {of_fixed, of_free, of_other_free})
    ASSERT_EQ(sym::Program::compile(e).words()[0], sym::kRoom) << str(e);
  // half = 12: the greater of 48 and 70, and 4
  EXPECT_EQ(sample.extents({of_fixed, of_free, of_other_free}), (Extents{74, -1, -1}));
}

TEST(FixedSymbols, OneThatSeveralAxesLeaveOneValue) {
  Sample sample({{1, 4}, {4, 9}});
  sample.plan.inputs[0].extents[1] = sample.plan.inputs[0].extents[0];
  EXPECT_EQ(sample.extents({sample.symbols[0], sample.symbols[1]}), (Extents{4, -1}));
}

TEST(FixedSymbols, OfTheValuesOfShapeInputs) {
  Sample sample({{1, 4}});
  for (int element = 0; element < 2; ++element) {
    sample.symbols.push_back(sample.table.symbol(str('v', element)));
    sample.plan.symbols.push_back({str('v', element), 0, -1, element});
  }
  sample.profile.value_ranges[0] = {{5, 1}, {5, 2}, {5, 3}};
  EXPECT_EQ(sample.extents({sample.symbols[0], sample.symbols[1], sample.symbols[2]}), (Extents{-1, 5, -1}));
}

/// A quotient by a fixed 0 is no extent, whatever else is fixed.
TEST(FixedSymbols, WhatCannotBeComputedIsNotKnown) {
  const Sample sample({{0, 0}, {6, 6}});
  EXPECT_EQ(sample.extents({sym::floor_div(sample.symbols[1], sample.symbols[0])}), (Extents{-1}));
}

}  // namespace
}  // namespace kiln::runtime
