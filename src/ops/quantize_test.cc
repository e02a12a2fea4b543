#include "ops/quantize.h"

#include <gtest/gtest.h>

#include <limits>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::Quantize;
using sym::Expr;
using Numbers = std::vector<double>;

CaseInput literal(Extents extents, DType dtype, std::vector<double> elements) {
  return {.extents = std::move(extents), .dtype = dtype, .literal = std::move(elements), .constant = true};
}
const CaseTable<Quantize> kCases{
    {"one scale", {}, {{{2, 3, 37}}, literal({1, 1, 1}, DType::kF32, {0.02})}},
    {"one scale, f16", {}, {{{2, 3, 37}, DType::kF16}, literal({1, 1, 1}, DType::kF16, {0.02})}},
    {"f16 by an f32 scale", {}, {{{2, 3, 37}, DType::kF16}, literal({1, 1, 1}, DType::kF32, {0.02})}},
    {"saturates", {}, {{{2, 37}, DType::kF32, Fill::kHuge}, literal({1, 1}, DType::kF32, {1})}},
    {"NaN and infinities", {}, {{{2, 37}, DType::kF32, Fill::kSpecial}, literal({1, 1}, DType::kF32, {0.5})}},
    {"unsigned, a zero point",
     {DType::kU8},
     {{{2, 3, 37}}, literal({1, 1, 1}, DType::kF32, {0.02}), literal({1, 1, 1}, DType::kU8, {128})}},
    {"channels",
     {},
     {{{2, 3, 37}}, literal({1, 3, 1}, DType::kF32, {0.5, 0.01, 0.02}), literal({1, 3, 1}, DType::kI8, {-3, 0, 5})}},
    {"blocks", {.block = {2, 1}}, {{{4, 6}}, {{2, 6}, DType::kF32, Fill::kPositive}}},
    {"f8", {DType::kF8E4M3}, {{{3, 37}}, literal({1, 1}, DType::kF32, {0.1})}},
    {"i4", {DType::kI4}, {{{3, 37}}, literal({1, 1}, DType::kF32, {0.3})}},
    {"f4 by e8m0",
     {.to = DType::kF4E2M1, .block = {1, 32}},
     {{{2, 64}}, literal({2, 2}, DType::kE8M0, {0.5, 1, 2, 4})}},
};

TEST(Quantize, KnownAnswers) {
  const CaseInput half = literal({}, DType::kF32, {0.5});
  EXPECT_EQ(run_reference_numbers(Quantize{}, {numbers({6}, {0.25, 0.75, -0.25, -0.74, 1000, -1000}), half}),
            (Numbers{0, 2, 0, -1, 127, -128}));
  EXPECT_EQ(run_reference_numbers(Quantize{DType::kU8},
                                  {numbers({4}, {0.25, 0.75, -64, 1000}), half, literal({}, DType::kU8, {128})}),
            (Numbers{128, 130, 0, 255}));
  EXPECT_EQ(run_reference_numbers(Quantize{DType::kI4}, {numbers({3}, {-100, 1.2, 100}), half}), (Numbers{-8, 2, 7}));
  EXPECT_EQ(run_reference_numbers(Quantize{DType::kF8E4M3}, {numbers({3}, {1000, 0.6, -0.01}), half}),
            (Numbers{448, 1.25, -0.01953125}));
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(run_reference_numbers(Quantize{}, {numbers({3}, {inf, -inf, nan}), half}), (Numbers{127, -128, 0}));
}
TEST(Quantize, AScaleForEachBlock) {
  EXPECT_EQ(run_reference_numbers(Quantize{}, {numbers({4, 1}, {1, 2, 3, 4}), numbers({2, 1}, {1, 0.5})}),
            (Numbers{1, 2, 6, 8}));
}
TEST(Quantize, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n");
  EXPECT_EQ(inferred(Quantize{DType::kU8}, {{DType::kF16, {n, 4}}, {DType::kF32, {}}}, t), "u8[n, 4]");
}
TEST(Quantize, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(Quantize{DType::kI32}, {{{2}}, {{}}}),
            "Quantize to i32; it makes i8, u8, f8e4m3, i4 or f4e2m1");
  EXPECT_EQ(infer_error(Quantize{}, {ints({1}), {{}}}), "Quantize of i64[1]; it takes f32, f16 or bf16");
  EXPECT_EQ(infer_error(Quantize{}, {{{2}}, ints({1})}), "scales are i64[1]; f32, f16, bf16 or e8m0 is needed");
  EXPECT_EQ(infer_error(Quantize{DType::kF8E4M3}, {{{2}}, {{}}, {{}, DType::kF8E4M3}}),
            "Quantize to f8e4m3 with a zero point; only integers have one");
  EXPECT_EQ(infer_error(Quantize{}, {{{2}}, {{}}, {{}, DType::kU8}}), "zero point is u8[]; i8 is needed");
  EXPECT_EQ(infer_error(Quantize{}, {{{2, 3}}, {{2, 3, 1}}}),
            "scale f32[2, 3, 1] does not lie over x f32[2, 3]; it is one number, a vector along an axis, or "
            "has x's rank and along each axis one element, x's extent or one for each block of equal size");
  for (const double scale : {0.0, -1.0, std::numeric_limits<double>::infinity()})
    EXPECT_EQ(infer_error(Quantize{}, {{{2}}, literal({}, DType::kF32, {scale})}),
              str("scale 0 of 1 is ", scale, "; scales are finite and positive"));
}

}  // namespace
}  // namespace kiln
