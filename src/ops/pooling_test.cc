#include "ops/pooling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/reference_context.h"
#include "ops/testing/case.h"

namespace kiln {
namespace {

using ops::PaddingMode;
using ops::Pooling;
using ops::PoolingKind;

const CaseTable<Pooling> kCases{
    {"max 2x2", {.window = {2, 2}, .strides = {2, 2}}, {{{2, 5, 8, 6}}}},
    {"max 3x3, pads",
     {.window = {3, 3}, .strides = {2, 2}, .pre_pads = {1, 1}, .post_pads = {1, 1}},
     {{{1, 17, 11, 13}}}},
    {"max, dilated",
     {.window = {3, 2}, .pre_pads = {1, 0}, .post_pads = {0, 1}, .dilations = {2, 3}},
     {{{1, 3, 9, 10}}}},
    {"max, round up",
     {.window = {3, 3}, .strides = {2, 2}, .padding = PaddingMode::kExplicitRoundUp},
     {{{1, 4, 8, 10}}}},
    {"max, round up inside",
     {.window = {2, 2},
      .strides = {3, 3},
      .pre_pads = {1, 1},
      .post_pads = {1, 1},
      .padding = PaddingMode::kRoundUpInside},
     {{{1, 4, 4, 8}}}},
    {"max, round up from nothing",
     {.window = {4, 5}, .strides = {4, 3}, .padding = PaddingMode::kRoundUpInside},
     {{{2, 5, 1, 3}}}},
    {"average, round up from nothing",
     {.kind = PoolingKind::kAverage, .window = {9, 4}, .strides = {9, 2}, .padding = PaddingMode::kRoundUpInside},
     {{{2, 5, 2, 7}}}},
    {"max, same upper", {.window = {3, 3}, .strides = {2, 2}, .padding = PaddingMode::kSameUpper}, {{{1, 3, 8, 7}}}},
    {"max, same lower", {.window = {2, 4}, .strides = {1, 2}, .padding = PaddingMode::kSameLower}, {{{1, 3, 8, 7}}}},
    {"max of a large window", {.window = {13, 13}, .pre_pads = {6, 6}, .post_pads = {6, 6}}, {{{1, 9, 13, 14}}}},
    {"max, special values",
     {.window = {3, 3}, .strides = {2, 2}, .pre_pads = {1, 1}, .post_pads = {1, 1}},
     {{{1, 19, 11, 37}, DType::kF32, Fill::kSpecial}}},
    {"average 2x2", {.kind = PoolingKind::kAverage, .window = {2, 2}, .strides = {2, 2}}, {{{2, 5, 8, 6}}}},
    {"average of all", {.kind = PoolingKind::kAverage, .window = {7, 7}}, {{{2, 33, 7, 7}}}},
    {"average, pads excluded",
     {.kind = PoolingKind::kAverage, .window = {3, 3}, .strides = {2, 1}, .pre_pads = {1, 1}, .post_pads = {1, 1}},
     {{{1, 5, 9, 8}}}},
    {"average, pads included",
     {.kind = PoolingKind::kAverage,
      .window = {3, 3},
      .pre_pads = {1, 2},
      .post_pads = {1, 0},
      .average_excludes_padding = false},
     {{{1, 5, 9, 8}}}},
    {"average, pads included, round up",
     {.kind = PoolingKind::kAverage,
      .window = {3, 3},
      .strides = {2, 2},
      .pre_pads = {1, 1},
      .post_pads = {0, 0},
      .average_excludes_padding = false,
      .padding = PaddingMode::kExplicitRoundUp},
     {{{1, 5, 9, 7}}}},
    {"average, same upper",
     {.kind = PoolingKind::kAverage, .window = {2, 3}, .strides = {2, 2}, .padding = PaddingMode::kSameUpper},
     {{{1, 5, 9, 7}}}},
    {"blend",
     {.kind = PoolingKind::kMaxAverageBlend, .window = {2, 2}, .strides = {2, 2}, .blend = 0.25},
     {{{1, 5, 6, 6}}}},
    {"1D", {.window = {3}, .strides = {2}, .pre_pads = {1}, .post_pads = {0}}, {{{1, 5, 31}}}},
    {"3D", {.kind = PoolingKind::kAverage, .window = {2, 3, 2}, .strides = {1, 2, 2}}, {{{1, 3, 4, 7, 6}}}},
    {"empty batch", {.window = {2, 2}}, {{{0, 3, 4, 4}}}},
    {"half", {.kind = PoolingKind::kAverage, .window = {3, 3}}, {{{1, 5, 9, 9}, DType::kF16}}},
    {"int8", {.window = {2, 2}}, {{{1, 5, 4, 4}, DType::kI8}}},
};

CaseInput f64(Extents extents, std::vector<double> values) { return {extents, DType::kF64, Fill::kNormal, values}; }

TEST(Pooling, KnownAnswers) {
  const std::vector<CaseInput> x{f64({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})};
  const auto run = [&](const Pooling& op) { return run_reference_numbers(op, x); };
  EXPECT_EQ(run({.window = {2, 2}}), (std::vector<double>{5, 6, 8, 9}));
  EXPECT_EQ(run({.kind = PoolingKind::kAverage, .window = {2, 2}}), (std::vector<double>{3, 4, 6, 7}));
  EXPECT_EQ(run({.kind = PoolingKind::kMaxAverageBlend, .window = {2, 2}, .blend = 0.25}),
            (std::vector<double>{4.5, 5.5, 7.5, 8.5}));
  // A pad before each axis: the corner window holds one element, those beside it two.
  Pooling padded{.kind = PoolingKind::kAverage, .window = {2, 2}, .strides = {2, 2}, .pre_pads = {1, 1}};
  EXPECT_EQ(run(padded), (std::vector<double>{1, 2.5, 5.5, 7}));
  padded.average_excludes_padding = false;
  EXPECT_EQ(run(padded), (std::vector<double>{0.25, 1.25, 2.75, 7}));
  // Rounding up, the last windows lie half outside; what is beyond the pads never counts.
  EXPECT_EQ(run({.kind = PoolingKind::kAverage,
                 .window = {2, 2},
                 .strides = {2, 2},
                 .average_excludes_padding = false,
                 .padding = PaddingMode::kExplicitRoundUp}),
            (std::vector<double>{3, 4.5, 7.5, 9}));
}
TEST(Pooling, ExtentsOfTheModes) {  // I = 6, pads 3 and 2, stride 2, window 3: 0 2 4 6 8; same: ceil(6 / 2)
  sym::Table table;
  const TensorType x = tensor_type(DType::kF32, Extents{1, 1, 6});
  const std::vector<InferInput> inputs{{&x}};
  const auto extent = [&](PaddingMode mode, int64_t stride) {
    const Op op = Pooling{.window = {3}, .strides = {stride}, .pre_pads = {3}, .post_pads = {2}, .padding = mode};
    return (*infer_types(op, inputs, table))[0].shape[2].value();
  };
  EXPECT_EQ(extent(PaddingMode::kExplicitRoundDown, 2), 5);
  EXPECT_EQ(extent(PaddingMode::kExplicitRoundUp, 2), 5);
  EXPECT_EQ(extent(PaddingMode::kSameUpper, 2), 3);
  EXPECT_EQ(extent(PaddingMode::kExplicitRoundDown, 3), 3);
  EXPECT_EQ(extent(PaddingMode::kExplicitRoundUp, 3), 4);
  EXPECT_EQ(extent(PaddingMode::kRoundUpInside, 3), 3);  // the fourth would begin at 9, behind the last element
}
TEST(Pooling, NanAndNothing) {
  EXPECT_TRUE(std::isnan(run_reference_numbers(Pooling{.window = {2}}, {f64({1, 1, 2}, {NAN, 1})})[0]));
  EXPECT_TRUE(std::isnan(run_reference_numbers(Pooling{.window = {2}}, {f64({1, 1, 2}, {1, NAN})})[0]));
  const Pooling outside{.window = {1}, .pre_pads = {1}};
  EXPECT_EQ(run_reference_numbers(outside, {f64({1, 1, 1}, {5})}), (std::vector<double>{-INFINITY, 5}));
  EXPECT_EQ(run_reference_numbers(outside, {{{1, 1, 1}, DType::kI8, Fill::kNormal, {5}}}),
            (std::vector<double>{-128, 5}));
}
TEST(Pooling, SymbolicExtents) {
  sym::Table table;
  const TensorType x(DType::kF32, {table.symbol("n"), 64, table.symbol("h", {4, 8, 99}), 56});
  const std::vector<InferInput> inputs{{&x}};
  const Op op = Pooling{.window = {3, 3}, .strides = {2, 2}, .padding = PaddingMode::kSameLower};
  EXPECT_EQ(str((*infer_types(op, inputs, table))[0]), "f32[n, 64, floor_div(h + 1, 2), 28]");
}
TEST(Pooling, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(Pooling{.window = {2}}, {{{1, 3, 8, 8}}}),
            "window is [2], with 1 entries; x f32[1, 3, 8, 8] has 2 spatial axes");
  EXPECT_EQ(infer_error(Pooling{.window = {9, 9}}, {{{1, 3, 8, 8}}}),
            "the window reaches over 9 elements of axis 2, which has 8 and pads of 0 and 0");
  EXPECT_EQ(infer_error(Pooling{.window = {9}, .strides = {2}, .padding = PaddingMode::kRoundUpInside}, {{{1, 3, 7}}}),
            "the window reaches over 9 elements of axis 2, which has 7 and pads of 0 and 0");
  EXPECT_EQ(infer_error(Pooling{.kind = PoolingKind::kAverage, .window = {2}}, {{{1, 3, 8}, DType::kI32}}),
            "x is i32[1, 3, 8]; average pooling takes a float type");
}

}  // namespace
}  // namespace kiln
