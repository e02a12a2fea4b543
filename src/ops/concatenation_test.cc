#include "ops/concatenation.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using sym::Expr;
using Numbers = std::vector<double>;

const CaseTable<ops::Concatenation> kCases{
    {"channels", {.axis = 1}, {{{2, 3, 5, 4}}, {{2, 6, 5, 4}}}},
    {"innermost", {.axis = -1}, {{{4, 3}}, {{4, 1}}, {{4, 9}}}},
    {"outermost", {.axis = 0}, {{{2, 3}, DType::kF16}, {{1, 3}, DType::kF16}}},
    {"one input", {.axis = 0}, {{{3}}}},
    {"an empty input", {.axis = 1}, {{{2, 0}}, {{2, 3}}}},
    {"bytes", {.axis = 1}, {{{3, 5}, DType::kI8}, {{3, 7}, DType::kI8}}},
    {"more inputs than a byte counts", {.axis = 1}, std::vector<CaseInput>(300, {{2, 3}})},
    {"more planes than a byte counts", {.axis = 1}, std::vector<CaseInput>(257, {{1, 2, 3, 5}})},
    {"f64", {.axis = 1}, {{{3, 5}, DType::kF64}, {{3, 7}, DType::kF64}}},
};

TEST(Concatenation, KnownAnswer) {
  EXPECT_EQ(
      run_reference_numbers(ops::Concatenation{.axis = 1}, {numbers({2, 1}, {1, 2}), numbers({2, 2}, {3, 4, 5, 6})}),
      (Numbers{1, 3, 4, 2, 5, 6}));
}
TEST(Concatenation, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n"), m = t.symbol("m");
  EXPECT_EQ(inferred(ops::Concatenation{.axis = 1}, {{DType::kF32, {n, m}}, {DType::kF32, {3, 4}}}, t),
            "f32[3, m + 4] if n = 3");
  EXPECT_EQ(inferred(ops::Concatenation{}, {values_type({n, 2}), values_type({m})}, t), "i64[3] {n, 2, m}");
}
TEST(Concatenation, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Concatenation{.axis = 0}, {{{2, 3}}, {{2, 4}}}),
            "axis 1 of inputs 0 (f32[2, 3]) and 1 (f32[2, 4]) joined along axis 0: 3 and 4 differ");
  EXPECT_EQ(infer_error(ops::Concatenation{.axis = 0}, {{{2, 3}}, {{2, 3}, DType::kI32}}),
            "input 1 is i32[2, 3] and input 0 is f32[2, 3]; all must have one element type");
}

}  // namespace
}  // namespace kiln
