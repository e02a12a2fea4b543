#include "ops/squeeze.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using sym::Expr;
using Numbers = std::vector<double>;

const CaseTable<ops::Squeeze> kCases{
    {"two axes", {.axes = {0, -1}}, {{{1, 3, 1}}}},
    {"from an input", {}, {{{2, 1, 3}}, ints({1})}},
    {"whatever is 1", {}, {{{1, 3, 1, 2}, DType::kI8}}},
};

TEST(Squeeze, KnownAnswer) {
  EXPECT_EQ(run_reference_numbers(ops::Squeeze{.axes = {1}}, {numbers({2, 1}, {1, 2})}), (Numbers{1, 2}));
}
TEST(Squeeze, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n");
  EXPECT_EQ(inferred(ops::Squeeze{.axes = {0}}, {{DType::kF32, {n, 3}}}, t), "f32[3] if n = 1");
  EXPECT_EQ(inferred(ops::Squeeze{}, {{DType::kF32, {n, 1, 3}}}, t), "f32[n, 3]");
  EXPECT_EQ(inferred(ops::Squeeze{.axes = {0}}, {values_type({n})}, t), "i64[] {n}");
}
TEST(Squeeze, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Squeeze{.axes = {1}}, {{{1, 3}}}),
            "axis 1 of f32[1, 3] can be squeezed only if its extent is 1: 3 and 1 differ");
  EXPECT_EQ(infer_error(ops::Squeeze{.axes = {0, -2}}, {{{1, 3}}}), "axis -2 is given twice in [0, -2]");
}

}  // namespace
}  // namespace kiln
