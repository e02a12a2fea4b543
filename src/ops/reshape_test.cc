#include "ops/reshape.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using sym::Expr;
using Numbers = std::vector<double>;

const CaseTable<ops::Reshape> kCases{
    {"flatten", {.dims = {0, -1}}, {{{2, 3, 4}}}},
    {"split heads", {.dims = {0, 0, 4, -1}}, {{{2, 5, 32}, DType::kF16}}},
    {"from a shape", {}, {{{2, 6}}, ints({3, -1})}},
    {"to a scalar", {.dims = {}}, {{{1, 1}}}},
    {"zeros that mean zero", {.dims = {3, 0}, .zero_is_placeholder = false}, {{{0, 5}}}},
};

TEST(Reshape, KnownAnswer) {
  EXPECT_EQ(run_reference_numbers(ops::Reshape{.dims = {3, 2}}, {numbers({2, 3}, {1, 2, 3, 4, 5, 6})}),
            (Numbers{1, 2, 3, 4, 5, 6}));
}
TEST(Reshape, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n"), s = t.symbol("s"), h = t.symbol("h");
  const TensorType x{DType::kF32, {n, s, 64}};
  EXPECT_EQ(inferred(ops::Reshape{.dims = {0, 0, 8, -1}}, {x}, t), "f32[n, s, 8, 8]");
  EXPECT_EQ(inferred(ops::Reshape{.dims = {0, -1}}, {x}, t), "f32[n, 64*s]");
  EXPECT_EQ(inferred(ops::Reshape{}, {x, values_type({n, -1, 8})}, t), "f32[n, 8*s, 8]");
  EXPECT_EQ(inferred(ops::Reshape{}, {x, values_type({n * s, 64})}, t), "f32[n*s, 64]");
  EXPECT_EQ(inferred(ops::Reshape{}, {x, values_type({h, 64})}, t), "f32[h, 64] if 64*n*s = 64*h");
  EXPECT_EQ(inferred(ops::Reshape{.dims = {-1, 5}}, {TensorType{DType::kF32, {n}}}, t),
            "f32[floor_div(n, 5), 5] if 5 divides n");
}
TEST(Reshape, EmptyBatchKeepsTheRest) {
  sym::Table t;
  EXPECT_EQ(inferred(ops::Reshape{.dims = {0, -1}}, {TensorType{DType::kF32, {0, 3, 4}}}, t), "f32[0, 12]");
}
TEST(Reshape, ValuesKeepTheirOrder) {
  sym::Table t;
  const Expr n = t.symbol("n");
  EXPECT_EQ(inferred(ops::Reshape{.dims = {2, 1}}, {values_type({n, 7})}, t), "i64[2, 1] {n, 7}");
}
TEST(Reshape, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Reshape{.dims = {-1, -1}}, {{{2, 3}}}), "dims [-1, -1] has more than one -1");
  EXPECT_EQ(infer_error(ops::Reshape{.dims = {4, -1}}, {{{2, 3}}}),
            "reshape of f32[2, 3] to [4, -1]: 4 does not divide 6");
  EXPECT_EQ(infer_error(ops::Reshape{.dims = {4, 2}}, {{{2, 3}}}),
            "element counts of reshape of f32[2, 3] to [4, 2]: 6 and 8 differ");
  EXPECT_EQ(infer_error(ops::Reshape{.dims = {6, 1, 0}}, {{{2, 3}}}),
            "dims [6, 1, 0] copies axis 2 of x, which is f32[2, 3]");
  EXPECT_EQ(infer_error(ops::Reshape{}, {{{2, 3}}, {{1}, DType::kI64}}),
            "shape: input 1 (i64[1]) must be known before the op runs, from constants, shapes or shape inputs; it is "
            "computed from data");
}

}  // namespace
}  // namespace kiln
