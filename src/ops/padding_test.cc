#include "ops/padding.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using sym::Expr;
using Numbers = std::vector<double>;

const CaseTable<ops::Padding> kCases{
    {"grows", {.pre = {1, 2}, .post = {0, 3}}, {{{1, 2, 3, 4}}}},
    {"crops", {.pre = {-1, 0}, .post = {-1, -2}}, {{{2, 5, 6}}}},
};

TEST(Padding, KnownAnswer) {
  EXPECT_EQ(run_reference_numbers(ops::Padding{.pre = {0, 1}, .post = {1, -1}}, {numbers({1, 2}, {1, 2})}),
            (Numbers{0, 1, 0, 0}));
}
TEST(Padding, InfersSymbolically) {
  sym::Table t;
  EXPECT_EQ(inferred(ops::Padding{.pre = {1, 1}, .post = {1, 2}}, {{DType::kF32, {3, t.symbol("h"), 4}}}, t),
            "f32[3, h + 2, 7]");
}
TEST(Padding, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Padding{.pre = {-4}, .post = {0}}, {{{3}}}),
            "padding -4 and 0 leaves nothing of axis 0 of f32[3]");
}

}  // namespace
}  // namespace kiln
