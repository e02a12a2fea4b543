#include "ops/transpose.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using sym::Expr;
using Numbers = std::vector<double>;

const CaseTable<ops::Transpose> kCases{
    {"matrix", {.perm = {1, 0}}, {{{5, 7}}}},
    {"channels last", {.perm = {0, 2, 3, 1}}, {{{2, 19, 5, 7}}}},
    {"channels first", {.perm = {0, 3, 1, 2}}, {{{2, 5, 7, 19}}}},
    {"attention heads", {.perm = {0, 2, 1, 3}}, {{{2, 6, 3, 16}}}},
    {"identity", {.perm = {0, 1, 2}}, {{{2, 3, 4}}}},
    {"scalar", {}, {{{}}}},
    {"empty", {.perm = {1, 0}}, {{{0, 3}}}},
    {"half", {.perm = {1, 0}}, {{{33, 65}, DType::kF16}}},
    {"bytes", {.perm = {2, 0, 1}}, {{{3, 17, 40}, DType::kI8}}},
    {"eight axes", {.perm = {7, 0, 6, 1, 5, 2, 4, 3}}, {{{2, 1, 3, 2, 2, 1, 2, 3}}}},
    {"f64", {.perm = {1, 0}}, {{{33, 65}, DType::kF64}}},
};

TEST(Transpose, KnownAnswer) {
  EXPECT_EQ(run_reference_numbers(ops::Transpose{.perm = {1, 0}}, {numbers({2, 3}, {1, 2, 3, 4, 5, 6})}),
            (Numbers{1, 4, 2, 5, 3, 6}));
}
TEST(Transpose, SymbolsAndValuesMove) {
  sym::Table t;
  const Expr n = t.symbol("n"), m = t.symbol("m");
  EXPECT_EQ(inferred(ops::Transpose{.perm = {2, 0, 1}}, {{DType::kF32, {n, 3, m}}}, t), "f32[m, n, 3]");
  EXPECT_EQ(inferred(ops::Transpose{.perm = {1, 0}}, {{DType::kI64, {2, 2}, {n, 1, m, 2}}}, t),
            "i64[2, 2] {n, m, 1, 2}");
}
TEST(Transpose, MovesAnAxisToTheFrontAndBack) {
  EXPECT_EQ(axis_to_front(4, 2), (std::vector<int64_t>{2, 0, 1, 3}));
  EXPECT_EQ(front_to_axis(4, 2), (std::vector<int64_t>{1, 2, 0, 3}));
  for (const auto& perm : {axis_to_front(3, 0), front_to_axis(3, 0)}) EXPECT_EQ(perm, (std::vector<int64_t>{0, 1, 2}));
}
TEST(Transpose, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Transpose{.perm = {0, 0}}, {{{2, 3}}}),
            "x is f32[2, 3]: perm [0, 0] is not a permutation of 2 axes");
}

}  // namespace
}  // namespace kiln
