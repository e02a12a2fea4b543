#include "ops/normalization.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/reference_context.h"
#include "ops/testing/case.h"

namespace kiln {
namespace {

using ops::Normalization;

CaseInput weights(Extents extents, DType dtype = DType::kF32) {
  return {.extents = extents, .dtype = dtype, .constant = true};
}

const CaseTable<Normalization> kCases{
    {"layer", {.axes = {-1}}, {{{2, 5, 96}}, weights({1, 1, 96}), weights({1, 1, 96})}},
    {"layer, scale of lower rank", {.axes = {-1}}, {{{2, 5, 67}}, weights({67}), weights({67})}},
    {"layer, two axes", {.axes = {1, 2}}, {{{3, 4, 7}}, weights({1, 4, 7}), weights({1, 4, 7})}},
    {"layer, no scale", {.axes = {-1}}, {{{7, 33}}}},
    {"layer, no bias", {.axes = {-1}}, {{{7, 33}}, weights({1, 33})}},
    {"layer, bias alone", {.axes = {-1}}, {{{7, 33}}, {.extents = {}, .absent = true}, weights({1, 33})}},
    {"layer, far from zero",
     {.axes = {-1}},
     {{{4, 770}, DType::kF32, Fill::kHuge}, weights({1, 770}), weights({1, 770})}},
    {"instance", {.axes = {2, 3}}, {{{2, 5, 7, 6}}, weights({1, 5, 1, 1}), weights({1, 5, 1, 1})}},
    {"instance, 1D", {.axes = {2}}, {{{2, 5, 37}}, weights({1, 5, 1}), weights({1, 5, 1})}},
    {"group, scale a channel",
     {.axes = {2, 3}, .groups = 3},
     {{{2, 6, 5, 7}}, weights({1, 6, 1, 1}), weights({1, 6, 1, 1})}},
    {"group, scale a group",
     {.axes = {2, 3}, .groups = 3},
     {{{2, 6, 5, 7}}, weights({1, 3, 1, 1}), weights({1, 3, 1, 1})}},
    {"one group", {.axes = {1, 2, 3}}, {{{2, 6, 5, 7}}, weights({1, 6, 1, 1}), weights({1, 6, 1, 1})}},
    {"group of one channel each",
     {.axes = {2, 3}, .groups = 4},
     {{{1, 4, 3, 3}}, weights({1, 4, 1, 1}), weights({1, 4, 1, 1})}},
    {"outermost", {.axes = {0}, .epsilon = 1e-3}, {{{9, 17}}}},
    {"empty batch", {.axes = {-1}}, {{{0, 33}}, weights({1, 33})}},
    {"root of mean squares", {.axes = {-1}, .centered = false}, {{{2, 5, 96}}, weights({1, 1, 96})}},
    {"root of mean squares, no scale", {.axes = {-1}, .centered = false}, {{{7, 33}}}},
    {"root of mean squares, a bias, two axes",
     {.axes = {1, 2}, .centered = false},
     {{{3, 4, 7}}, weights({1, 4, 7}), weights({1, 4, 7})}},
    {"root of mean squares, far from zero",
     {.axes = {-1}, .centered = false},
     {{{4, 770}, DType::kF32, Fill::kHuge}, weights({1, 770})}},
    {"root of mean squares, longer than a block holds", {.axes = {-1}, .centered = false}, {{{2, 70'001}}}},
    {"root of mean squares, many short rows", {.axes = {-1}, .centered = false}, {{{4099, 24}}, weights({1, 24})}},
    {"root of mean squares, half",
     {.axes = {-1}, .centered = false},
     {{{5, 2048}, DType::kF16}, weights({1, 2048}, DType::kF16)}},
    {"half", {.axes = {-1}}, {{{5, 96}, DType::kF16}, weights({1, 96}, DType::kF16), weights({1, 96}, DType::kF16)}},
};

CaseInput f64(Extents extents, std::vector<double> values) { return {extents, DType::kF64, Fill::kNormal, values}; }
void expect_near(const std::vector<double>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-12) << i;
}

TEST(Normalization, KnownAnswers) {
  // Mean 3 and variance 4 in the first row, mean 10 and variance 0 in the second.
  const Normalization layer{.axes = {1}, .epsilon = 0};
  expect_near(run_reference_numbers(layer, {f64({1, 2}, {1, 5}), f64({1, 2}, {10, 100}), f64({1, 2}, {0.5, 0})}),
              {-9.5, 100});
  // Variance 4 and epsilon 5: divided by 3.
  expect_near(run_reference_numbers(Normalization{.axes = {1}, .epsilon = 5}, {f64({1, 2}, {1, 5})}),
              {-2.0 / 3, 2.0 / 3});
  // Mean square 25 and epsilon 11: divided by 6.
  expect_near(run_reference_numbers(Normalization{.axes = {1}, .epsilon = 11, .centered = false},
                                    {f64({1, 2}, {1, 7}), f64({1, 2}, {6, 12})}),
              {1, 14});
  // Channels 0 and 1 are one group (mean 3, variance 4), 2 and 3 the other (mean 30, variance 400).
  const Normalization group{.axes = {2}, .epsilon = 0, .groups = 2};
  const CaseInput x = f64({1, 4, 1}, {1, 5, 10, 50});
  expect_near(run_reference_numbers(group, {x, f64({1, 4, 1}, {1, 2, 3, 4})}), {-1, 2, -3, 4});
  expect_near(run_reference_numbers(group, {x, f64({1, 2, 1}, {1, 2})}), {-1, 1, -2, 2});
}
TEST(Normalization, SymbolicShapes) {
  sym::Table table;
  const TensorType x(DType::kF32, {table.symbol("n"), table.symbol("s"), 768}),
      scale = tensor_type(DType::kF32, Extents{768});
  const std::vector<InferInput> inputs{{&x}, {&scale}, {&scale}};
  std::vector<sym::Assumption> assumptions;
  EXPECT_EQ(str((*infer_types(Normalization{.axes = {2}}, inputs, table, &assumptions))[0]), "f32[n, s, 768]");
  EXPECT_TRUE(assumptions.empty());
}
TEST(Normalization, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(Normalization{.axes = {1}}, {{{2, 3}}, {{1, 4}}}),
            "scale f32[1, 4] must broadcast to x f32[2, 3]: 3 and 4 differ");
  EXPECT_EQ(infer_error(Normalization{.axes = {2}, .groups = 4}, {{{2, 6, 5}}}),
            "x f32[2, 6, 5] has 6 channels, not a multiple of 4 groups");
  EXPECT_EQ(infer_error(Normalization{.axes = {1, 2}, .groups = 2}, {{{2, 6, 5}}}),
            "x f32[2, 6, 5] is normalised over axes [1, 2] in 2 groups of axis 1; axis 1 must exist and not be among "
            "the normalised axes");
  EXPECT_EQ(infer_error(Normalization{}, {{{2, 6}}}),
            "axes is empty; Normalization needs at least one axis to average over");
}

}  // namespace
}  // namespace kiln
