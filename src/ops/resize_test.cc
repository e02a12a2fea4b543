#include "ops/resize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/reference_context.h"
#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using sym::Expr;
using Numbers = std::vector<double>;

using enum CoordinateTransformation;
const CaseTable<ops::Resize> kCases{
    {"nearest twice", {.scales = {1, 1, 2, 2}}, {{{1, 3, 4, 5}}}},
    {"nearest down",
     {.scales = {1, 1, 0.6, 0.5}, .coordinate = kHalfPixel, .rounding = ResizeRounding::kHalfDown},
     {{{1, 2, 7, 10}}}},
    {"nearest bytes", {.dims = {2, 7}, .rounding = ResizeRounding::kCeil}, {{{2, 3}, DType::kI8}}},
    {"bilinear twice",
     {.mode = ResizeMode::kLinear, .scales = {1, 1, 2, 2}, .coordinate = kHalfPixel},
     {{{2, 8, 5, 6}}}},
    {"bilinear to a size",
     {.mode = ResizeMode::kLinear, .dims = {1, 3, 9, 4}, .coordinate = kAlignCorners},
     {{{1, 3, 4, 6}}}},
    {"bilinear from an input",
     {.mode = ResizeMode::kLinear, .coordinate = kPytorchHalfPixel},
     {{{1, 2, 4, 4}}, ints({1, 2, 1, 7})}},
    {"trilinear",
     {.mode = ResizeMode::kLinear, .dims = {1, 2, 5, 3, 7}, .coordinate = kHalfPixel},
     {{{1, 2, 3, 4, 5}}}},
    {"linear", {.mode = ResizeMode::kLinear, .scales = {1, 1, 1.5}, .coordinate = kHalfPixelSymmetric}, {{{1, 2, 5}}}},
    {"antialiased",
     {.mode = ResizeMode::kLinear, .scales = {1, 0.6, 0.4}, .coordinate = kHalfPixel, .antialias = true},
     {{{2, 5, 9}}}},
    {"bicubic", {.mode = ResizeMode::kCubic, .scales = {1, 1, 2.5, 2.5}, .coordinate = kHalfPixel}, {{{1, 2, 4, 6}}}},
    {"bicubic, nothing outside",
     {.mode = ResizeMode::kCubic,
      .dims = {1, 1, 3, 9},
      .coordinate = kHalfPixel,
      .exclude_outside = true,
      .cubic_coeff = -0.5},
     {{{1, 1, 4, 4}}}},
    {"corners of a fraction",
     {.mode = ResizeMode::kLinear, .scales = {1, 1, 0.8, 0.7}, .coordinate = kAlignCorners},
     {{{1, 2, 8, 9}}}},
    {"bilinear crop",
     {.mode = ResizeMode::kLinear,
      .dims = {1, 2, 5, 4},
      .coordinate = kTfCropAndResize,
      .axes_given = {2, 3},
      .extrapolation = 3},
     {{{1, 2, 8, 9}}, {.absent = true}, {.extents = {4}, .literal = {0.2, 0.9, 0.7, -0.2}}}},
    {"nearest crop of bytes",
     {.dims = {2, 5}, .coordinate = kTfCropAndResize, .extrapolation = 3},
     {{{2, 8}, DType::kI8}, {.absent = true}, {.extents = {4}, .literal = {0, 0.2, 1, 1.4}}}},
    {"bicubic by scales of the run",
     {.mode = ResizeMode::kCubic, .dims = {1, 2, 5, 20}, .coordinate = kHalfPixel, .axes_given = {3, 2}},
     {{{1, 2, 4, 8}}, {.absent = true}, {.absent = true}, {.extents = {2}, .literal = {2.5, 1.25}}}},
    {"bilinear, not larger than its sizes",
     {.mode = ResizeMode::kLinear,
      .dims = {1, 2, 6, 7},
      .coordinate = kHalfPixel,
      .fit = ResizeFit::kNotLarger,
      .fitted_sizes = {0, 0, 7, 7}},
     {{{1, 2, 4, 5}}}},
    {"bicubic, not smaller than its sizes",
     {.mode = ResizeMode::kCubic,
      .dims = {2, 5, 4, 1},
      .coordinate = kHalfPixel,
      .fit = ResizeFit::kNotSmaller,
      .fitted_sizes = {0, 5, 2, 0}},
     {{{2, 8, 6, 1}}}},
    {"cubic along five axes",
     {.mode = ResizeMode::kCubic, .dims = {2, 3, 4, 2, 5}, .coordinate = kHalfPixel},
     {{{3, 2, 3, 3, 3}}}},
    {"cubic along more axes than kernels mix",
     {.mode = ResizeMode::kCubic, .dims = {2, 3, 1, 2, 3, 2}, .coordinate = kHalfPixel},
     {{{1, 2, 3, 3, 2, 3}}}},
    {"nearest, an axis that keeps its extent but not its scale",
     {.dims = {6, 10},
      .coordinate = kHalfPixel,
      .rounding = ResizeRounding::kHalfDown,
      .fit = ResizeFit::kNotLarger,
      .fitted_sizes = {9, 10}},
     {{{6, 9}}}},
    {"linear, fitted by a scale of the run",
     {.mode = ResizeMode::kLinear,
      .dims = {1, 6, 7},
      .coordinate = kHalfPixel,
      .axes_given = {1, 2},
      .fit = ResizeFit::kNotLarger},
     {{{1, 4, 5}}, {.absent = true}, {.absent = true}, {.extents = {2}, .literal = {1.4, 1.4}}}},
};

Numbers run(const ops::Resize& op, Numbers x) {
  return run_reference_numbers(op, {numbers({static_cast<int64_t>(x.size())}, x, DType::kF64)});
}
TEST(Resize, KnownAnswersNearest) {
  EXPECT_EQ(run({.scales = {2}}, {1, 2}), (Numbers{1, 1, 2, 2}));
  // Coordinates 0, 0.5, 1, 1.5.
  EXPECT_EQ(run({.scales = {2}, .rounding = ResizeRounding::kHalfUp}, {1, 2}), (Numbers{1, 2, 2, 2}));
  EXPECT_EQ(run({.scales = {2}, .rounding = ResizeRounding::kHalfDown}, {1, 2}), (Numbers{1, 1, 2, 2}));
  EXPECT_EQ(run({.scales = {2}, .rounding = ResizeRounding::kCeil}, {1, 2}), (Numbers{1, 2, 2, 2}));
  // A scale of 0.6 is above 3/5 in double and exactly it in effect: coordinate 3 / 0.6 is 5.
  EXPECT_EQ(run({.scales = {0.6F}}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), (Numbers{0, 1, 3, 5, 6, 8}));
}
TEST(Resize, AnyScaleOfAnExtentThatVaries) {  // as of one that is known: the product of floats, rounded down
  sym::Table t;
  const TensorType x{DType::kF32, {t.symbol("n", sym::kAnyExtent)}};
  const InferInput inputs[] = {{&x, nullptr}};
  for (const float scale : {1.0001F, 0.9999F, 0.48012003F, 1.23457F, 3.0001F, 0.001234F, 5e-7F, 1e-30F}) {
    const auto types = infer_types(ops::Resize{.scales = {static_cast<double>(scale)}}, inputs, t);
    ASSERT_TRUE(types) << types.error().message;
    const sym::Expr extent = (*types)[0].shape[0];
    for (int64_t e = 0; e < 100'000 && static_cast<float>(e) * scale < 0x1p23F; e += 1 + e / 5000)
      ASSERT_EQ(sym::evaluate(extent, {{e}}), static_cast<int64_t>(static_cast<float>(e) * scale))
          << scale << " * " << e;
  }
}
TEST(Resize, KnownAnswersLinear) {
  EXPECT_EQ(run({.mode = ResizeMode::kLinear, .scales = {2}, .coordinate = kHalfPixel}, {0, 4}), (Numbers{0, 1, 3, 4}));
  EXPECT_EQ(run({.mode = ResizeMode::kLinear, .scales = {2}, .coordinate = kAsymmetric}, {0, 4}),
            (Numbers{0, 2, 4, 4}));
  EXPECT_EQ(run({.mode = ResizeMode::kLinear, .dims = {5}, .coordinate = kAlignCorners}, {0, 4}),
            (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(run({.mode = ResizeMode::kLinear, .dims = {1}, .coordinate = kHalfPixel}, {0, 4}), (Numbers{2}));
  EXPECT_EQ(
      run({.mode = ResizeMode::kLinear, .dims = {1}, .coordinate = kHalfPixel, .selector = ResizeSelector::kUpper},
          {0, 4}),
      (Numbers{0}));
  EXPECT_EQ(run({.mode = ResizeMode::kLinear, .dims = {1}, .coordinate = kPytorchHalfPixel}, {0, 4}), (Numbers{0}));
}
TEST(Resize, KnownAnswersCubic) {
  // At half way the kernel with a = -0.75 weighs -3/32, 19/32, 19/32, -3/32; outside, the edge repeats.
  const Numbers y = run({.mode = ResizeMode::kCubic, .scales = {2}, .coordinate = kAsymmetric}, {0, 32, 64});
  EXPECT_NEAR(y[1], (-3 * 0.0 + 19 * 0 + 19 * 32 - 3 * 64) / 32, 1e-6);
  EXPECT_NEAR(y[3], (-3 * 0.0 + 19 * 32 + 19 * 64 - 3 * 64) / 32, 1e-6);
  // Nothing outside: at 0.5 the weights that are left, 19, 19 and -3, sum to 35.
  const Numbers z =
      run({.mode = ResizeMode::kCubic, .scales = {2}, .coordinate = kAsymmetric, .exclude_outside = true}, {0, 32, 64});
  EXPECT_NEAR(z[1], (19 * 32 - 3 * 64) / 35.0, 1e-6);
}
TEST(Resize, KnownAnswerAntialiased) {  // the triangle twice as wide: weights 1, 3, 3, 1 of 8, edges repeated
  std::vector<ResizeTap> y;
  find_resize_taps({.mode = ResizeMode::kLinear, .coordinate = kHalfPixel, .antialias = true}, 4, 2, {0.5F}, y);
  ASSERT_EQ(y.size(), 8U);
  const double x[] = {1, 2, 3, 4};
  double first = 0, second = 0;
  for (size_t t = 0; t < 4; ++t) first += y[t].weight * x[y[t].index], second += y[4 + t].weight * x[y[4 + t].index];
  EXPECT_DOUBLE_EQ(first, 1.625);
  EXPECT_DOUBLE_EQ(second, 3.375);
}
TEST(Resize, KnownAnswersOfAFit) {
  // 4 rows and 5 columns, resized to at most 7 of each, become 7 columns by a scale of 1.4, and 5.6 rows, which are 6.
  // Row 1 is at 1.5 / 1.4 - 0.5, not at 1.5 / (6 / 4) - 0.5 as the rounded extent would have it.
  ops::Resize op{.mode = ResizeMode::kLinear,
                 .dims = {6, 7},
                 .coordinate = kHalfPixel,
                 .fit = ResizeFit::kNotLarger,
                 .fitted_sizes = {7, 7}};
  Numbers x;
  for (int i = 0; i < 20; ++i) x.push_back(i / 5);  // the row's number
  const CaseInput rows = numbers({4, 5}, x, DType::kF64);
  const Numbers y = run_reference_numbers(op, {rows});
  const double expected[] = {0, 4.0 / 7, 2.5 / 1.4 - 0.5, 2, 4.5 / 1.4 - 0.5, 3};
  for (size_t row = 0; row < 6; ++row) EXPECT_NEAR(y[row * 7 + 3], expected[row], 1e-6) << row;
  // Not smaller: 7 rows by a scale of 1.75, and 8.75 columns, which are 9.
  op.fit = ResizeFit::kNotSmaller;
  op.dims = {7, 9};
  EXPECT_NEAR(run_reference_numbers(op, {rows})[9], 1.5 / 1.75 - 0.5, 1e-6);
}
TEST(Resize, AFitsScaleOfTheRunMustMakeItsExtents) {
  const ops::Resize op{.dims = {6}, .fit = ResizeFit::kNotLarger};
  const auto fails = [&](float scale) {
    std::vector<ResizeSpan> spans(1);
    const int64_t in[] = {4}, out[] = {6};
    return !find_resize_spans(op, {.sized = true, .scales = {&scale, 1}}, in, out, spans);
  };
  EXPECT_FALSE(fails(1.4F)) << "5.6 rounds to 6";
  EXPECT_FALSE(fails(1.6F)) << "6.4 rounds to 6";
  EXPECT_TRUE(fails(1.3F));
  EXPECT_TRUE(fails(1.7F));
}
TEST(Resize, CornersAreThoseOfTheWholeElementsThatAScaleMakes) {
  // 5 * 0.7 = 3.5: three elements, in steps of 4 / 2, so that the last corner is y's.
  EXPECT_EQ(run({.mode = ResizeMode::kLinear, .scales = {0.7}, .coordinate = kAlignCorners}, {0, 1, 2, 3, 4}),
            (Numbers{0, 2, 4}));
}
const CaseInput kAbsent{.absent = true};
Numbers crop(ops::Resize op, Numbers x, Numbers roi) {
  op.coordinate = kTfCropAndResize;
  return run_reference_numbers(op,
                               {numbers({static_cast<int64_t>(x.size())}, x, DType::kF64), kAbsent, numbers({2}, roi)});
}
TEST(Resize, KnownAnswersCrop) {
  // From 1/4 of the way to 3/4 of it: coordinates 1, 2, 3.
  EXPECT_EQ(crop({.mode = ResizeMode::kLinear, .dims = {3}}, {0, 10, 20, 30, 40}, {0.25, 0.75}), (Numbers{10, 20, 30}));
  EXPECT_EQ(crop({.mode = ResizeMode::kLinear, .dims = {1}}, {0, 10, 20, 30, 40}, {0.25, 0.5}), (Numbers{15}));
  // Backwards, and beyond the last element.
  EXPECT_EQ(crop({.mode = ResizeMode::kNearest, .dims = {2}}, {0, 10, 20, 30, 40}, {1, 0}), (Numbers{40, 0}));
  EXPECT_EQ(crop({.mode = ResizeMode::kLinear, .dims = {3}, .extrapolation = 7}, {0, 10, 20}, {0, 2}),
            (Numbers{0, 20, 7}));
  EXPECT_EQ(crop({.dims = {2}, .extrapolation = 7}, {0, 10, 20}, {-0.5, NAN}), (Numbers{7, 7}));
}
TEST(Resize, ScalesOfTheRunMustFit) {
  const Op op = ops::Resize{.mode = ResizeMode::kLinear, .dims = {3}, .coordinate = kHalfPixel};
  const CaseInput x = numbers({2}, {0, 4}, DType::kF64);
  const Numbers y = run_reference_numbers(op, {x, kAbsent, kAbsent, numbers({1}, {1.6})});
  EXPECT_NEAR(y[1], 4 * (1.5 / 1.6 - 0.5), 1e-6);  // and not the 2 of a scale of 1.5, which the extents have
  EXPECT_THROW(run_reference_numbers(op, {x, kAbsent, kAbsent, numbers({1}, {2.125})}), CheckFailed);
  const float scale = 2.125F;
  const int64_t in = 2, out = 3;
  ResizeSpan span;
  const Status fits =
      find_resize_spans(*op.as<ops::Resize>(), {true, {}, {&scale, 1}}, {&in, 1}, {&out, 1}, {&span, 1});
  ASSERT_FALSE(fits);
  EXPECT_EQ(fits.error().message, "scale 2.125 of axis 0 makes 4 of 2 elements; the output has 3");
}
TEST(Resize, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n"), h = t.symbol("h");
  EXPECT_EQ(inferred(ops::Resize{.scales = {1, 2}}, {{DType::kF32, {n, h}}}, t), "f32[n, 2*h]");
  EXPECT_EQ(inferred(ops::Resize{.scales = {0.5, 1 / 3.0F}}, {{DType::kF32, {n, h}}}, t),
            "f32[floor_div(n, 2), floor_div(h, 3)]");
  EXPECT_EQ(inferred(ops::Resize{}, {{DType::kF32, {n, h}}, values_type({n, 7})}, t), "f32[n, 7]");
}
TEST(Resize, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Resize{.scales = {2}}, {{{2, 3}}}), "resize of f32[2, 3] has 1 scales and no sizes");
  EXPECT_EQ(infer_error(ops::Resize{.mode = ResizeMode::kCubic, .scales = {2}}, {{{2}, DType::kBool}}),
            "x is bool[2]; resize cubic takes numbers of at least a byte");
  EXPECT_EQ(infer_error(ops::Resize{.dims = {2}, .coordinate = kTfCropAndResize}, {{{2}}}),
            "resize tf_crop_and_resize needs a roi");
  EXPECT_EQ(infer_error(ops::Resize{.dims = {2}, .coordinate = kTfCropAndResize}, {{{2}}, kAbsent, {{3}}}),
            "elements of a resize's roi: 3 and 2 differ");
  EXPECT_EQ(infer_error(ops::Resize{.dims = {2}}, {{{2}}, kAbsent, {{2}}}), "resize asymmetric takes no roi");
  EXPECT_EQ(infer_error(ops::Resize{.scales = {2}}, {{{2}}, kAbsent, kAbsent, {{1}}}),
            "scales that come at run time cannot decide y's extents; sizes must be given");
  EXPECT_EQ(infer_error(ops::Resize{.dims = {2}, .axes_given = {1}}, {{{2}}}), "axis 1 is outside [0, 1) of x f32[2]");
}

}  // namespace
}  // namespace kiln
