#include "ops/lrn.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::Lrn;
using sym::Expr;

const CaseTable<Lrn> kCases{
    {"image", {.window = 5, .alpha = 0.5, .beta = 0.75, .k = 2}, {{{2, 9, 3, 5}}}},
    {"even window", {.window = 4, .alpha = 0.3}, {{{1, 6, 7}}}},
    {"wider than the channels", {.window = 15, .alpha = 1}, {{{2, 3, 4, 4}}}},
    {"half", {.window = 3, .alpha = 0.1}, {{{2, 8, 5}, DType::kF16}}},
};

TEST(Lrn, KnownAnswers) {
  const CaseInput x = numbers({1, 3, 1}, {1, 2, 3});
  // k + alpha / 2 * sum, with the channel behind: 1 + (1 + 4), 1 + (4 + 9), 1 + 9
  const auto y = run_reference_numbers(Lrn{.window = 2, .alpha = 2, .beta = 1, .k = 1}, {x});
  ASSERT_EQ(y.size(), 3U);
  EXPECT_FLOAT_EQ(static_cast<float>(y[0]), 1.0F / 6);
  EXPECT_FLOAT_EQ(static_cast<float>(y[1]), 2.0F / 14);
  EXPECT_FLOAT_EQ(static_cast<float>(y[2]), 3.0F / 10);
}
TEST(Lrn, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n"), h = t.symbol("h");
  EXPECT_EQ(inferred(Lrn{.window = 3}, {{DType::kF16, {n, 4, h}}}, t), "f16[n, 4, h]");
}
TEST(Lrn, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(Lrn{}, {{{4}}}), "x is f32[4]; Lrn takes f32, f16, bf16 or f64 [N, C, ...]");
  EXPECT_EQ(infer_error(Lrn{.window = 0}, {{{1, 2, 3}}}), "window is 0; 1 is the least");
}

}  // namespace
}  // namespace kiln
