#include "ops/parametric_relu.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::ParametricRelu;
using sym::Expr;

const CaseTable<ParametricRelu> kCases{
    {"slope a channel", {}, {{{2, 3, 5, 7}}, {{1, 3, 1, 1}}}},
    {"slope an element, half", {}, {{{4, 9}, DType::kF16}, {{4, 9}, DType::kF16}}},
    {"special values", {}, {{{2, 40}, DType::kF32, Fill::kSpecial}, {{1, 1}}}},
    {"empty", {}, {{{0, 3}}, {{1, 3}}}},
};

TEST(ParametricRelu, KnownAnswer) {
  const CaseInput x = numbers({2, 2}, {-1, 2, -3, -4}), slope = numbers({1, 2}, {10, 0.5});
  EXPECT_EQ(run_reference_numbers(ParametricRelu{}, {x, slope}), (std::vector<double>{-10, 2, -30, -2}));
}
TEST(ParametricRelu, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n"), c = t.symbol("c");
  EXPECT_EQ(inferred(ParametricRelu{}, {{DType::kF16, {n, c}}, {DType::kF16, {1, c}}}, t), "f16[n, c]");
}
TEST(ParametricRelu, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ParametricRelu{}, {ints({1}), ints({1})}),
            "x is i64[1]; ParametricRelu takes f32, f16 or bf16");
  EXPECT_EQ(infer_error(ParametricRelu{}, {{{2, 3}}, {{3}}}),
            "slope is f32[3] and x f32[2, 3]; one type and rank are needed");
  EXPECT_NE(
      infer_error(ParametricRelu{}, {{{2, 3}}, {{2, 2}}}).find("axis 1 of slope f32[2, 2] broadcasts to x f32[2, 3]"),
      std::string::npos);
}

}  // namespace
}  // namespace kiln
