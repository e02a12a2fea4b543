#include "ops/deconvolution.h"

#include <gtest/gtest.h>

#include "ops/convolution.h"
#include "ops/reference_context.h"
#include "ops/testing/case.h"

namespace kiln {
namespace {

using ops::Deconvolution;
using ops::PaddingMode;

CaseInput weights(Extents extents, DType dtype = DType::kF32) {
  return {.extents = extents, .dtype = dtype, .constant = true};
}

const CaseTable<Deconvolution> kCases{
    {"upsampling by two", {.strides = {2, 2}}, {{{2, 8, 5, 7}}, weights({8, 6, 2, 2}), weights({6})}},
    {"overlapping",
     {.strides = {2, 2}, .pre_pads = {1, 1}, .post_pads = {1, 1}},
     {{{1, 5, 6, 5}}, weights({5, 7, 4, 4}), weights({7})}},
    {"gaps between windows", {.strides = {3, 3}}, {{{1, 3, 4, 4}}, weights({3, 2, 2, 1})}},
    {"output padding",
     {.strides = {2, 2}, .pre_pads = {1, 1}, .post_pads = {0, -1}},
     {{{1, 3, 4, 5}}, weights({3, 4, 3, 2}), weights({4})}},
    {"dilated",
     {.strides = {1, 2}, .pre_pads = {1, 0}, .post_pads = {0, 2}, .dilations = {2, 3}},
     {{{1, 4, 5, 6}}, weights({4, 3, 3, 3})}},
    {"groups", {.strides = {2, 2}, .groups = 3}, {{{2, 6, 3, 3}}, weights({6, 4, 3, 3}), weights({12})}},
    {"depthwise",
     {.strides = {2, 2}, .pre_pads = {1, 1}, .post_pads = {1, 1}, .groups = 7},
     {{{1, 7, 5, 6}}, weights({7, 1, 4, 4})}},
    {"same upper", {.strides = {2, 3}, .padding = PaddingMode::kSameUpper}, {{{1, 3, 5, 4}}, weights({3, 4, 3, 3})}},
    {"same lower", {.strides = {2, 1}, .padding = PaddingMode::kSameLower}, {{{1, 3, 5, 4}}, weights({3, 4, 3, 4})}},
    {"1D", {.strides = {4}, .pre_pads = {2}, .post_pads = {2}}, {{{1, 11, 13}}, weights({11, 5, 8}), weights({5})}},
    {"3D", {.strides = {1, 2, 2}}, {{{1, 3, 3, 4, 2}}, weights({3, 2, 2, 3, 2}), weights({2})}},
    {"weights of the run",
     {.strides = {2, 2}, .pre_pads = {1, 1}, .post_pads = {0, 0}, .groups = 2},
     {{{1, 6, 5, 4}}, {{6, 4, 3, 3}}, weights({8})}},
    {"empty batch", {}, {{{0, 3, 4, 4}}, weights({3, 2, 3, 3})}},
    {"half, output padding",
     {.strides = {2, 2}, .post_pads = {-1, -1}},
     {{{1, 64, 5, 5}, DType::kF16}, weights({64, 8, 2, 2}, DType::kF16)}},
    {"half", {.strides = {2, 2}}, {{{1, 8, 5, 5}, DType::kF16}, weights({8, 4, 2, 2}, DType::kF16)}},
};

CaseInput f64(Extents extents, std::vector<double> values) { return {extents, DType::kF64, Fill::kNormal, values}; }

TEST(Deconvolution, KnownAnswers) {
  // 1 * [1 10 100] at 0 and 2 * [1 10 100] at 2, plus the bias.
  EXPECT_EQ(run_reference_numbers(Deconvolution{.strides = {2}},
                                  {f64({1, 1, 2}, {1, 2}), f64({1, 1, 3}, {1, 10, 100}), f64({1}, {1000})}),
            (std::vector<double>{1001, 1010, 1102, 1020, 1200}));
  // The same without its first element and with one more at the end.
  EXPECT_EQ(run_reference_numbers(Deconvolution{.strides = {2}, .pre_pads = {1}, .post_pads = {-1}},
                                  {f64({1, 1, 2}, {1, 2}), f64({1, 1, 3}, {1, 10, 100})}),
            (std::vector<double>{10, 102, 20, 200, 0}));
  // Same: pads of 3 - 2 in all, so that 2 * 2 elements are left; upper cuts behind, lower before.
  const std::vector<CaseInput> same{f64({1, 1, 2}, {1, 2}), f64({1, 1, 3}, {1, 10, 100})};
  EXPECT_EQ(run_reference_numbers(Deconvolution{.strides = {2}, .padding = PaddingMode::kSameUpper}, same),
            (std::vector<double>{1, 10, 102, 20}));
  EXPECT_EQ(run_reference_numbers(Deconvolution{.strides = {2}, .padding = PaddingMode::kSameLower}, same),
            (std::vector<double>{10, 102, 20, 200}));
}

TEST(Deconvolution, IsTheGradientOfConvolution) {  // <conv(u, w), v> = <u, deconv(v, w)>
  const Extents u_extents{2, 6, 9, 8}, w_extents{4, 3, 3, 2}, v_extents{2, 4, 5, 4};
  const ops::Convolution conv{
      .strides = {2, 2}, .pre_pads = {1, 0}, .post_pads = {1, 0}, .dilations = {1, 1}, .groups = 2};
  const Deconvolution back{
      .strides = {2, 2}, .pre_pads = {1, 0}, .post_pads = {1, 0}, .dilations = {1, 1}, .groups = 2};
  const auto filled = [](Extents extents, int seed) {
    std::vector<double> values(static_cast<size_t>(volume(extents)));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>((i * 7 + static_cast<size_t>(seed)) % 11) - 5;
    return values;
  };
  const auto u = filled(u_extents, 1), w = filled(w_extents, 2), v = filled(v_extents, 3);
  const auto y = run_reference_numbers(conv, {f64(u_extents, u), f64(w_extents, w)});
  const auto x = run_reference_numbers(back, {f64(v_extents, v), f64(w_extents, w)});
  ASSERT_EQ(y.size(), v.size());
  ASSERT_EQ(x.size(), u.size());
  double left = 0, right = 0;
  for (size_t i = 0; i < y.size(); ++i) left += y[i] * v[i];
  for (size_t i = 0; i < x.size(); ++i) right += x[i] * u[i];
  EXPECT_EQ(left, right);
  EXPECT_NE(left, 0);
}

TEST(Deconvolution, SymbolicExtents) {
  sym::Table table;
  const sym::Expr n = table.symbol("n"), h = table.symbol("h", {1, 8, 64});
  const TensorType x(DType::kF32, {n, 8, h, 16}), w = tensor_type(DType::kF32, Extents{8, 4, 3, 3});
  const std::vector<InferInput> inputs{{&x}, {&w}};
  EXPECT_EQ(str((*infer_types(Deconvolution{.strides = {2, 2}}, inputs, table))[0]), "f32[n, 4, 2*h + 1, 33]");
  EXPECT_EQ(str((*infer_types(Deconvolution{.strides = {2, 2}, .padding = PaddingMode::kSameUpper}, inputs, table))[0]),
            "f32[n, 4, 2*h, 32]");
}

TEST(Deconvolution, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(Deconvolution{}, {{{1, 4, 8, 8}}, {{3, 2, 3, 3}}}),
            "x f32[1, 4, 8, 8] and w f32[3, 2, 3, 3] must have the same input channels: 4 and 3 differ");
  EXPECT_EQ(infer_error(Deconvolution{.pre_pads = {2}, .post_pads = {2}}, {{{1, 3, 2}}, {{3, 2, 3}}}),
            "axis 2 of the output would have 0 elements; pads of 2 and 2 leave nothing of x f32[1, 3, 2]");
}

}  // namespace
}  // namespace kiln
