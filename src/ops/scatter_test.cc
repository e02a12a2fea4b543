#include "ops/scatter.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using sym::Expr;
using Numbers = std::vector<double>;

CaseInput indices(Extents extents, int64_t count, DType dtype = DType::kI32) {
  return {.extents = std::move(extents), .dtype = dtype, .fill = Fill::kIndex, .count = count};
}
const CaseTable<ops::Scatter> kCases{
    {"elements", {.axis = 1}, {{{3, 4, 2}}, indices({2, 6, 2}, 4), {{2, 6, 2}}}},
    {"innermost", {.axis = -1}, {{{3, 7}, DType::kF16}, indices({3, 2}, 7), {{3, 2}, DType::kF16}}},
    {"coordinates", {.mode = ScatterMode::kNd}, {{{3, 4, 5}}, indices({6, 2}, 3), {{6, 5}}}},
    {"added up", {.axis = 0, .reduction = ScatterReduction::kSum}, {{{3, 4}}, indices({3, 4}, 3), {{3, 4}}}},
    {"halves, rows added up",
     {.mode = ScatterMode::kNd, .reduction = ScatterReduction::kSum},
     {{{5, 33}, DType::kF16}, indices({17, 1}, 5), {{17, 33}, DType::kF16}}},
    {"integers, multiplied",
     {.axis = 1, .reduction = ScatterReduction::kProd},
     {{{2, 6}, DType::kI64}, indices({2, 9}, 6, DType::kI64), {{2, 9}, DType::kI64}}},
    {"the smaller",
     {.mode = ScatterMode::kNd, .reduction = ScatterReduction::kMin},
     {{{3, 4}}, indices({11, 2}, 3), {{11}}}},
    {"bytes, the larger",
     {.axis = 0, .reduction = ScatterReduction::kMax},
     {{{7}, DType::kI8}, indices({9}, 7), {{9}, DType::kI8}}},
    {"thousands added up",
     {.axis = 0, .reduction = ScatterReduction::kSum},
     {{{9, 3}}, indices({2500, 3}, 9), {{2500, 3}}}},
    {"rows of bf16, hundreds a row, the larger",
     {.mode = ScatterMode::kNd, .reduction = ScatterReduction::kMax},
     {{{2, 37}, DType::kBF16}, indices({700, 1}, 2, DType::kI64), {{700, 37}, DType::kBF16}}},
    {"special values, the smaller",
     {.axis = -1, .reduction = ScatterReduction::kMin},
     {{{4, 9}, DType::kF32, Fill::kSpecial}, indices({4, 30}, 9), {{4, 30}, DType::kF32, Fill::kSpecial}}},
    {"integers of 32 bits, added up",
     {.axis = 0, .reduction = ScatterReduction::kSum},
     {{{300}, DType::kI32}, indices({5000}, 300), {{5000}, DType::kI32}}},
    {"whole coordinates", {.mode = ScatterMode::kNd}, {{{3, 4}}, indices({5, 2}, 3, DType::kI64), {{5}}}},
};
const CaseInput kData = numbers({2, 3}, {1, 2, 3, 4, 5, 6});
const ops::Scatter kNd{.mode = ScatterMode::kNd};

TEST(Scatter, KnownAnswers) {
  EXPECT_EQ(run_reference_numbers(ops::Scatter{.axis = 1},
                                  {kData, numbers({1, 2}, {2, -3}, DType::kI32), numbers({1, 2}, {7, 8})}),
            (Numbers{8, 2, 7, 4, 5, 6}));
  EXPECT_EQ(run_reference_numbers(ops::Scatter{.axis = 0},
                                  {kData, numbers({1, 3}, {1, 0, 1}, DType::kI32), numbers({1, 3}, {7, 8, 9})}),
            (Numbers{1, 8, 3, 7, 5, 9}));
  EXPECT_EQ(run_reference_numbers(kNd, {kData, numbers({1, 1}, {-1}, DType::kI64), numbers({1, 3}, {7, 8, 9})}),
            (Numbers{1, 2, 3, 7, 8, 9}));
}
TEST(Scatter, TheLastUpdateStays) {
  EXPECT_EQ(run_reference_numbers(kNd, {kData, numbers({2, 2}, {1, 2, 1, 2}, DType::kI32), numbers({2}, {7, 8})}),
            (Numbers{1, 2, 3, 4, 5, 8}));
}
TEST(Scatter, UpdatesAreReduced) {
  const auto y = [](ScatterReduction reduction) {
    return run_reference_numbers(ops::Scatter{.mode = ScatterMode::kNd, .reduction = reduction},
                                 {ints({5, 6, 7}), numbers({3, 1}, {2, 0, 2}, DType::kI32), ints({4, 9, 3})});
  };
  EXPECT_EQ(y(ScatterReduction::kSum), (Numbers{14, 6, 14}));
  EXPECT_EQ(y(ScatterReduction::kProd), (Numbers{45, 6, 84}));
  EXPECT_EQ(y(ScatterReduction::kMax), (Numbers{9, 6, 7}));
  EXPECT_EQ(y(ScatterReduction::kMin), (Numbers{5, 6, 3}));
  EXPECT_EQ(run_reference_numbers(ops::Scatter{.axis = 1, .reduction = ScatterReduction::kSum},
                                  {kData, numbers({1, 2}, {2, 2}, DType::kI32), numbers({1, 2}, {7, 8})}),
            (Numbers{1, 2, 18, 4, 5, 6}));
}
TEST(Scatter, HalvesAreRoundedOnceAnUpdate) {  // 2048 + 1 is 2048 in FP16, twice; 2048 + 2 were 2050
  EXPECT_EQ(run_reference_numbers(ops::Scatter{.reduction = ScatterReduction::kSum},
                                  {numbers({2}, {2048, 1}, DType::kF16), numbers({2}, {0, 0}, DType::kI32),
                                   numbers({2}, {1, 1}, DType::kF16)}),
            (Numbers{2048, 1}));
}
TEST(Scatter, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n"), s = t.symbol("s");
  EXPECT_EQ(inferred(kNd, {{DType::kF16, {n, 9, 4}}, {DType::kI64, {s, 2}}, {DType::kF16, {s, 4}}}, t), "f16[n, 9, 4]");
}
TEST(Scatter, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(kNd, {{{2, 3}}, {{1}}, {{3}}}), "indices are f32[1]; i32 or i64 needed");
  EXPECT_EQ(infer_error(kNd, {{{2, 3}}, ints({1}), {{4}}}),
            "axis 0 of updates f32[4] and indices i64[1]: 4 and 3 differ");
}

}  // namespace
}  // namespace kiln
