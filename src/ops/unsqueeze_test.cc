#include "ops/unsqueeze.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using sym::Expr;
using Numbers = std::vector<double>;

const CaseTable<ops::Unsqueeze> kCases{
    {"both ends", {.axes = {0, -1}}, {{{2, 3}}}},
    {"from an input", {}, {{{2, 3}}, ints({1})}},
    {"of a scalar", {.axes = {0}}, {{{}}}},
};

TEST(Unsqueeze, KnownAnswer) {
  EXPECT_EQ(run_reference_numbers(ops::Unsqueeze{.axes = {1}}, {numbers({2}, {1, 2})}), (Numbers{1, 2}));
}
TEST(Unsqueeze, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n");
  EXPECT_EQ(inferred(ops::Unsqueeze{.axes = {2, 0}}, {{DType::kF32, {n, 3}}}, t), "f32[1, n, 1, 3]");
  EXPECT_EQ(inferred(ops::Unsqueeze{.axes = {0}}, {{DType::kI64, {}, {n}}}, t), "i64[1] {n}");
}
TEST(Unsqueeze, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Unsqueeze{.axes = {4}}, {{{2, 3}}}),
            "y of rank 3, from x f32[2, 3]: axis 4 is outside [-3, 3)");
}

}  // namespace
}  // namespace kiln
