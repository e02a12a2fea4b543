#include "ops/shuffle.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using sym::Expr;
using Numbers = std::vector<double>;

const CaseTable<ops::Shuffle> kCases{
    {"all three",
     {.first_perm = {0, 2, 1}, .dims = {0, -1, 2}, .reshape = true, .second_perm = {2, 0, 1}},
     {{{2, 6, 5}}}},
    {"transpose alone", {.first_perm = {1, 0}}, {{{3, 4}}}},
    {"pixel shuffle", {.dims = {1, 2, 3, 4}, .reshape = true, .second_perm = {0, 2, 1, 3}}, {{{1, 6, 4}}}},
    {"from a shape", {}, {{{2, 6}}, ints({3, 4})}},
};

TEST(Shuffle, KnownAnswer) {
  // [[1 2 3] [4 5 6]] -> [[1 4] [2 5] [3 6]] -> [[1 4 2] [5 3 6]] -> [[1 5] [4 3] [2 6]]
  const ops::Shuffle op{.first_perm = {1, 0}, .dims = {2, 3}, .reshape = true, .second_perm = {1, 0}};
  EXPECT_EQ(run_reference_numbers(op, {numbers({2, 3}, {1, 2, 3, 4, 5, 6})}), (Numbers{1, 5, 4, 3, 2, 6}));
}
TEST(Shuffle, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n"), s = t.symbol("s");
  const ops::Shuffle op{.dims = {0, 0, 8, -1}, .reshape = true, .second_perm = {0, 2, 1, 3}};
  EXPECT_EQ(inferred(op, {{DType::kF32, {n, s, 64}}}, t), "f32[n, 8, s, 8]");
  EXPECT_EQ(inferred(ops::Shuffle{.first_perm = {1, 0}, .dims = {4}, .reshape = true},
                     {{DType::kI64, {2, 2}, {n, 1, s, 2}}}, t),
            "i64[4] {n, s, 1, 2}");
}
TEST(Shuffle, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Shuffle{.second_perm = {0}}, {{{2, 3}}}),
            "second transpose of f32[2, 3]: perm [0] is not a permutation of 2 axes");
}

}  // namespace
}  // namespace kiln
