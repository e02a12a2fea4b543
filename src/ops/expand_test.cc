#include "ops/expand.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using sym::Expr;
using Numbers = std::vector<double>;

const CaseTable<ops::Expand> kCases{
    {"rows", {.dims = {4, 3}}, {{{3}}}},
    {"columns", {.dims = {4, 30}}, {{{4, 1}}}},
    {"two ways", {.dims = {1, 5}}, {{{2, 1}}}},
    {"from a shape", {}, {{{2, 1, 3}, DType::kF16}, ints({2, 2, 3})}},
    {"a scalar", {.dims = {2, 2}}, {{{}, DType::kBool}}},
    {"f64", {.dims = {4, 3}}, {{{3}, DType::kF64}}},
};

TEST(Expand, KnownAnswer) {
  EXPECT_EQ(run_reference_numbers(ops::Expand{.dims = {2, 2, 2}}, {numbers({2, 1}, {1, 2})}),
            (Numbers{1, 1, 2, 2, 1, 1, 2, 2}));
}
TEST(Expand, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n");
  EXPECT_EQ(inferred(ops::Expand{}, {{DType::kF32, {1, 3}}, values_type({n, 1, 1})}, t), "f32[n, 1, 3]");
  EXPECT_EQ(inferred(ops::Expand{}, {{DType::kF32, {n}}, values_type({n})}, t), "f32[n]");  // broadcast_test.cc: n, m
  EXPECT_EQ(inferred(ops::Expand{.dims = {2}}, {values_type({n})}, t), "i64[2] {n, n}");
}
TEST(Expand, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Expand{.dims = {4}}, {{{3}}}),
            "expanding f32[3] to [4]: broadcast extents: 3 and 4 differ");
}

}  // namespace
}  // namespace kiln
