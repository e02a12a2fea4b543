#include "ops/resize.h"

#include <gtest/gtest.h>

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
  const auto y = resize_taps({.mode = ResizeMode::kLinear, .coordinate = kHalfPixel, .antialias = true}, 4, 2, 0.5F);
  ASSERT_EQ(y.size(), 8U);
  const double x[] = {1, 2, 3, 4};
  double first = 0, second = 0;
  for (size_t t = 0; t < 4; ++t) first += y[t].weight * x[y[t].index], second += y[4 + t].weight * x[y[4 + t].index];
  EXPECT_DOUBLE_EQ(first, 1.625);
  EXPECT_DOUBLE_EQ(second, 3.375);
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
}

}  // namespace
}  // namespace kiln
