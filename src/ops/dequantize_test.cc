#include "ops/dequantize.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::Dequantize;
using sym::Expr;
using Numbers = std::vector<double>;

CaseInput literal(Extents extents, DType dtype, std::vector<double> elements) {
  return {.extents = std::move(extents), .dtype = dtype, .literal = std::move(elements), .constant = true};
}
const CaseTable<Dequantize> kCases{
    {"one scale", {}, {{{2, 3, 37}, DType::kI8}, literal({1, 1, 1}, DType::kF32, {0.02})}},
    {"to f16", {DType::kF16}, {{{2, 3, 37}, DType::kI8}, literal({1, 1, 1}, DType::kF32, {0.02})}},
    {"by f16", {DType::kF16}, {{{2, 3, 37}, DType::kI8}, literal({1, 1, 1}, DType::kF16, {0.02})}},
    {"unsigned, a zero point",
     {},
     {{{2, 3, 37}, DType::kU8}, literal({1, 1, 1}, DType::kF32, {0.02}), literal({1, 1, 1}, DType::kU8, {128})}},
    {"channels", {}, {{{2, 3, 37}, DType::kI8}, {{1, 3, 1}, DType::kF32, Fill::kPositive}, {{1, 3, 1}, DType::kI8}}},
    {"sums", {}, {{{3, 7}, DType::kI32}, literal({1, 1}, DType::kF32, {0.001})}},
    {"blocks", {.block = {2, 1}}, {{{4, 6}, DType::kI8}, {{2, 6}, DType::kF32, Fill::kPositive}}},
    {"f8", {}, {{{3, 37}, DType::kF8E4M3}, literal({1, 1}, DType::kF32, {0.1})}},
    {"i4, blocks",
     {.block = {2, -1}},
     {{{4, 37}, DType::kI4}, {{2, 1}, DType::kF32, Fill::kPositive}, {{2, 1}, DType::kI4}}},
};

TEST(Dequantize, KnownAnswers) {
  const CaseInput half = literal({}, DType::kF32, {0.5});
  EXPECT_EQ(run_reference_numbers(Dequantize{}, {literal({3}, DType::kI8, {-128, 0, 3}), half}),
            (Numbers{-64, 0, 1.5}));
  EXPECT_EQ(
      run_reference_numbers(Dequantize{}, {literal({2}, DType::kU8, {255, 0}), half, literal({}, DType::kU8, {100})}),
      (Numbers{77.5, -50}));
  EXPECT_EQ(run_reference_numbers(Dequantize{.axis = 0},
                                  {literal({2, 1}, DType::kI8, {4, 4}), literal({2}, DType::kF32, {0.5, 0.25})}),
            (Numbers{2, 1}));
}
TEST(Dequantize, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n");
  EXPECT_EQ(inferred(Dequantize{DType::kBF16}, {{DType::kI8, {n, 4}}, {DType::kF32, {1, 4}}}, t), "bf16[n, 4]");
}
TEST(Dequantize, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(Dequantize{}, {{{2}}, {{}}}),
            "Dequantize of f32[2]; it takes i8, u8, i32, f8e4m3, i4 or f4e2m1");
  EXPECT_EQ(infer_error(Dequantize{DType::kI8}, {{{2}, DType::kI8}, {{}}}),
            "Dequantize to i8; it makes f32, f16 or bf16");
  EXPECT_EQ(infer_error(Dequantize{.axis = 2}, {{{2, 3}, DType::kI8}, {{3}}}),
            "scale f32[3] is a vector along axis 2 of x i8[2, 3]; one from 0 to 1 is needed");
  EXPECT_EQ(infer_error(Dequantize{.block = {2, -1}}, {{{2, 3}, DType::kI8}, {{1, 3}}}),
            "blocks of -1 along axis 1 of x, whose extent is 3 and which has 3 scales: 3 and 1 differ");
}

}  // namespace
}  // namespace kiln
