#include "ops/grid_sample.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::GridSample;
using sym::Expr;
using Numbers = std::vector<double>;

const CaseTable<GridSample> kCases{
    {"linear", {}, {{{2, 3, 7, 5}}, {{2, 4, 9, 2}}}},
    {"linear, corners", {.align_corners = true}, {{{1, 9, 7, 5}}, {{1, 4, 33, 2}}}},
    {"nearest, nearest outside",
     {.mode = ResizeMode::kNearest, .outside = SliceMode::kClamp},
     {{{2, 3, 7, 5}}, {{2, 4, 9, 2}}}},
    {"cubic, mirrored",
     {.mode = ResizeMode::kCubic, .outside = SliceMode::kReflect},
     {{{2, 3, 7, 5}}, {{2, 4, 9, 2}}},
     1e-5},
    {"cubic, mirrored, corners",
     {.mode = ResizeMode::kCubic, .outside = SliceMode::kReflect, .align_corners = true},
     {{{1, 2, 3, 1}}, {{1, 40, 5, 2}}},
     1e-5},
    {"cubic, nearest outside",
     {.mode = ResizeMode::kCubic, .outside = SliceMode::kClamp},
     {{{2, 3, 7, 5}}, {.extents = {2, 4, 9, 2}, .fill = Fill::kSpecial}},
     1e-5},
    {"cubic, zeros", {.mode = ResizeMode::kCubic}, {{{1, 17, 7, 5}}, {{1, 70, 2, 2}}}, 1e-5},
    {"volume", {.outside = SliceMode::kReflect}, {{{2, 3, 4, 7, 5}}, {{2, 4, 2, 9, 3}}}},
    {"volume, nearest", {.mode = ResizeMode::kNearest}, {{{1, 3, 4, 7, 5}}, {{1, 4, 2, 9, 3}}}},
    {"volume, cubic",
     {.mode = ResizeMode::kCubic, .outside = SliceMode::kClamp},
     {{{1, 2, 4, 7, 5}}, {{1, 4, 2, 9, 3}}},
     1e-5},
    {"half", {.outside = SliceMode::kClamp}, {{{2, 3, 7, 5}, DType::kF16}, {{2, 4, 9, 2}, DType::kF16}}},
    {"bf16 at f32", {}, {{{2, 3, 7, 5}, DType::kBF16}, {{2, 4, 9, 2}}}},
    {"positions that are no numbers", {}, {{{1, 2, 7, 5}}, {{1, 4, 9, 2}, DType::kF32, Fill::kSpecial}}},
    {"positions that are no numbers, mirrored",
     {.outside = SliceMode::kReflect},
     {{{1, 2, 7, 5}}, {{1, 4, 9, 2}, DType::kF32, Fill::kSpecial}}},
    {"no pixel", {.outside = SliceMode::kClamp}, {{{1, 2, 0, 5}}, {{1, 4, 3, 2}}}},
    {"no position", {}, {{{1, 2, 4, 5}}, {{1, 0, 3, 2}}}},
};

const CaseInput kImage = numbers({1, 1, 2, 2}, {1, 2, 3, 4});
Numbers at(const GridSample& op, const Numbers& positions) {
  return run_reference_numbers(op, {kImage, numbers({1, 1, static_cast<int64_t>(positions.size() / 2), 2}, positions)});
}

TEST(GridSample, KnownAnswers) {
  EXPECT_EQ(at({.align_corners = true}, {-1, -1, 1, -1, 1, 1, 0, 0}), (Numbers{1, 2, 4, 2.5}));
  EXPECT_EQ(at({}, {-1, -1, -0.5, 0.5, -3, 0}), (Numbers{0.25, 3, 0}));
  EXPECT_EQ(at({.outside = SliceMode::kClamp}, {-1, -1, -3, 9}), (Numbers{1, 3}));
  EXPECT_EQ(at({.outside = SliceMode::kReflect}, {-1, -1, -2.5, -0.5}), (Numbers{1, 2}));
  EXPECT_EQ(at({.outside = SliceMode::kReflect, .align_corners = true}, {-2, -1, -3, -1, -5, -1}),
            (Numbers{1.5, 2, 1}));
  EXPECT_EQ(at({.mode = ResizeMode::kNearest}, {0.6, -0.6, 0, 0, 1.6, 0}), (Numbers{2, 1, 0}));
  EXPECT_EQ(at({.mode = ResizeMode::kCubic, .align_corners = true}, {1, -1}), Numbers{2});
  // Between both columns of row 0: weights -0.09375, 0.59375, 0.59375, -0.09375, of which the outer ones meet zeros.
  EXPECT_EQ(at({.mode = ResizeMode::kCubic, .align_corners = true}, {0, -1}), Numbers{1.78125});
}
/// Each of the sixteen pixels is the nearest one inside, and not the position between them, as PyTorch and ONNX Runtime
/// have it: half a pixel beyond the last column the weights are -0.09375, 0.59375, 0.59375, -0.09375 of 1, 2, 2, 2.
TEST(GridSample, CubicAtTheBorderClampsEachPixel) {
  const GridSample corners{.mode = ResizeMode::kCubic, .outside = SliceMode::kClamp, .align_corners = true};
  EXPECT_EQ(at(corners, {2, -1}), Numbers{2 + 0.09375});
  EXPECT_EQ(at(corners, {-2, -1}), Numbers{1 - 0.09375});
  EXPECT_EQ(at(corners, {9, 9}), Numbers{4});
  const GridSample edges{.mode = ResizeMode::kCubic, .outside = SliceMode::kClamp};
  EXPECT_EQ(at(edges, {1, -0.5}), Numbers{2 + 0.09375});
  EXPECT_EQ(at(edges, {NAN, 40}), Numbers{3});
}
TEST(GridSample, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n"), h = t.symbol("h"), m = t.symbol("m");
  EXPECT_EQ(inferred(GridSample{}, {{DType::kF16, {n, 3, h, 9}}, {DType::kF32, {n, 5, m, 2}}}, t), "f16[n, 3, 5, m]");
  EXPECT_EQ(inferred(GridSample{}, {{DType::kF32, {n, 3, 4, h, 9}}, {DType::kF32, {m, 5, 6, 7, 3}}}, t),
            "f32[n, 3, 5, 6, 7] if m = n");
}
TEST(GridSample, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(GridSample{}, {{{2, 3, 4}}, {{2, 3, 2}}}),
            "x is f32[2, 3, 4]; a float image of 2 or 3 axes behind batch and channels is needed");
  EXPECT_EQ(infer_error(GridSample{}, {{{2, 3, 4, 5}}, {{2, 3, 4, 3}}}),
            "grid is f32[2, 3, 4, 3] for x f32[2, 3, 4, 5]; floats of its rank with 2 coordinates are needed");
  EXPECT_EQ(infer_error(GridSample{}, {{{2, 3, 4, 5}}, {{3, 3, 4, 2}}}),
            "batches of x f32[2, 3, 4, 5] and grid f32[3, 3, 4, 2]: 3 and 2 differ");
  EXPECT_EQ(infer_error(GridSample{.outside = SliceMode::kWrap}, {{{2, 3, 4, 5}}, {{2, 3, 4, 2}}}),
            "outside wrap; fill, clamp or reflect is needed");
}

}  // namespace
}  // namespace kiln
