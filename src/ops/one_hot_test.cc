#include "ops/one_hot.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::OneHot;
using sym::Expr;
using Numbers = std::vector<double>;

CaseInput depth(double classes) {
  return {.extents = {}, .dtype = DType::kI32, .literal = {classes}, .constant = true};
}
const CaseTable<OneHot> kCases{
    {"last", {}, {{.extents = {3, 4}, .dtype = DType::kI64, .fill = Fill::kIndex, .count = 7}, {{2}}, depth(5)}},
    {"first, half",
     {.axis = 0},
     {{.extents = {6}, .dtype = DType::kI32, .fill = Fill::kIndex, .count = 3}, {{2}, DType::kF16}, depth(3)}},
};

TEST(OneHot, KnownAnswers) {
  const CaseInput values = numbers({2}, {-1, 5});
  EXPECT_EQ(run_reference_numbers(OneHot{}, {ints({1, -1, 3}), values, ints({3})}),
            (Numbers{-1, 5, -1, -1, -1, 5, -1, -1, -1}));
  EXPECT_EQ(run_reference_numbers(OneHot{.axis = 0}, {ints({1, 0}), values, ints({2})}), (Numbers{-1, 5, 5, -1}));
}
TEST(OneHot, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n"), d = t.symbol("d");
  EXPECT_EQ(inferred(OneHot{.axis = 1}, {{DType::kI32, {n, 4}}, {DType::kF16, {2}}, values_type({d})}, t),
            "f16[n, d, 4]");
}
TEST(OneHot, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(OneHot{}, {{{4}}, {{2}}, ints({3})}), "indices are f32[4]; i32 or i64 needed");
  EXPECT_EQ(infer_error(OneHot{}, {ints({1}), {{3}}, ints({3})}), "values are f32[3]; two are needed, off and on");
  EXPECT_EQ(infer_error(OneHot{}, {ints({1}), {{2}}, ints({-3})}), "depth is -3; a count is needed");
  EXPECT_EQ(infer_error(OneHot{.axis = 2}, {ints({1}), {{2}}, ints({3})}), "axis of y: axis 2 is outside [-2, 2)");
}

}  // namespace
}  // namespace kiln
