#include "ops/roi_align.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/reference_context.h"
#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::RoiAlign;
using sym::Expr;
using Numbers = std::vector<double>;

CaseInput regions(DType dtype = DType::kF32) {
  return {
      .extents = {5, 4}, .dtype = dtype, .literal = {0, 0, 9, 7, 2.5, 1, 4, 3, -3, -2, 30, 20, 5, 5, 5, 5, 6, 7, 2, 1}};
}
CaseInput images(DType dtype = DType::kI64) { return {.extents = {5}, .dtype = dtype, .literal = {0, 1, 1, 0, 1}}; }

const CaseTable<RoiAlign> kCases{
    {"two samples", {.height = 7, .width = 7, .sampling_ratio = 2}, {{{2, 3, 11, 13}}, regions(), images()}},
    {"as many samples as pixels", {.height = 2, .width = 3}, {{{2, 3, 11, 13}}, regions(), images()}, 1e-5},
    {"older rule, scaled",
     {.height = 3, .width = 3, .sampling_ratio = 3, .spatial_scale = 0.5, .half_pixel = false},
     {{{2, 70, 11, 13}}, regions(), images(DType::kI32)}},
    {"greatest", {.mode = RoiMode::kMax, .height = 3, .width = 2}, {{{2, 3, 11, 13}}, regions(), images()}},
    {"greatest of special values",
     {.mode = RoiMode::kMax, .height = 3, .width = 2},
     {{{2, 3, 11, 13}, DType::kF32, Fill::kSpecial}, regions(), images()}},
    {"many bins", {.height = 14, .width = 9, .sampling_ratio = 1}, {{{2, 2, 11, 13}}, regions(), images()}},
    {"half", {.height = 3, .width = 2}, {{{2, 3, 11, 13}, DType::kF16}, regions(DType::kF16), images()}},
    {"bf16 in f32", {.height = 3, .width = 2}, {{{2, 3, 11, 13}, DType::kBF16}, regions(), images()}},
    {"no region", {.height = 3, .width = 2}, {{{2, 3, 11, 13}}, {{0, 4}}, {{0}, DType::kI64}}},
};

const CaseInput kImage = numbers({1, 1, 4, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
Numbers bins(const RoiAlign& op, const Numbers& roi) {
  return run_reference_numbers(op, {kImage, numbers({1, 4}, roi), numbers({1}, {0}, DType::kI64)});
}

TEST(RoiAlign, KnownAnswers) {
  const RoiAlign one{.height = 2, .width = 2, .sampling_ratio = 1};
  EXPECT_EQ(bins(one, {0, 0, 4, 4}), (Numbers{2.5, 4.5, 10.5, 12.5}));
  EXPECT_EQ(bins({.height = 2, .width = 2}, {0, 0, 4, 4}), (Numbers{2.5, 4.5, 10.5, 12.5}));
  EXPECT_EQ(bins({.height = 2, .width = 2, .sampling_ratio = 1, .half_pixel = false}, {0, 0, 3, 3}),
            (Numbers{3.75, 5.25, 9.75, 11.25}));
  EXPECT_EQ(bins({.mode = RoiMode::kMax, .height = 2, .width = 2, .sampling_ratio = 1}, {0, 0, 4, 4}),
            (Numbers{1.25, 1.75, 3.25, 3.75}));
  EXPECT_EQ(bins({.height = 2, .width = 1, .sampling_ratio = 1, .spatial_scale = 0.5}, {20, 20, 40, 40}),
            (Numbers{0, 0}));
  EXPECT_EQ(bins({.mode = RoiMode::kMax, .height = 1, .width = 2}, {3, 3, 1, 1}), (Numbers{0, 0}));
}
TEST(RoiAlign, TheGreatestIsNaNWhereAPixelIs) {
  const CaseInput image = numbers({1, 1, 2, 4}, {NAN, 1, 2, 3, 9, 5, 6, 7});
  const Numbers y = run_reference_numbers(RoiAlign{.mode = RoiMode::kMax, .height = 1, .width = 2, .sampling_ratio = 1},
                                          {image, numbers({1, 4}, {0, 0, 4, 2}), numbers({1}, {0}, DType::kI64)});
  ASSERT_EQ(y.size(), 2u);
  EXPECT_TRUE(std::isnan(y[0])) << y[0];
  EXPECT_EQ(y[1], 1.75);
}
TEST(RoiAlign, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n"), r = t.symbol("r"), h = t.symbol("h");
  EXPECT_EQ(inferred(RoiAlign{.height = 7, .width = 5},
                     {{DType::kF16, {n, 3, h, 9}}, {DType::kF16, {r, 4}}, {DType::kI64, {r}}}, t),
            "f16[r, 3, 7, 5]");
}
TEST(RoiAlign, SaysWhatIsWrong) {
  const CaseInput x{{2, 3, 4, 5}}, rois{{6, 4}}, batches = numbers({6}, {0, 0, 0, 0, 0, 0}, DType::kI64);
  EXPECT_EQ(infer_error(RoiAlign{}, {{{2, 3, 4}}, rois, batches}), "x is f32[2, 3, 4]; floats [N, C, H, W] are needed");
  EXPECT_EQ(infer_error(RoiAlign{}, {x, {{6, 5}}, batches}), "rois are f32[6, 5]; floats [R, 4] are needed");
  EXPECT_EQ(infer_error(RoiAlign{}, {x, rois, {{6}}}), "batch_indices are f32[6]; i32 or i64 [R] needed");
  EXPECT_EQ(infer_error(RoiAlign{}, {x, {{5, 4}}, batches}),
            "regions of rois f32[5, 4] and batch_indices i64[6]: 5 and 6 differ");
  EXPECT_EQ(infer_error(RoiAlign{.height = 0}, {x, rois, batches}),
            "the output has 0 x 1 bins; 1 to 16384 along an axis are possible");
  EXPECT_EQ(infer_error(RoiAlign{.width = 16385}, {x, rois, batches}),
            "the output has 1 x 16385 bins; 1 to 16384 along an axis are possible");
  for (const int ratio : {-1, 1025, 46341, INT32_MAX})  // from 46341 on, the samples of a bin leave 32 bits
    EXPECT_EQ(infer_error(RoiAlign{.sampling_ratio = ratio}, {x, rois, batches}),
              str("sampling_ratio is ", ratio, "; 0 to 1024 are possible"));
  const std::vector<CaseInput> inputs{x, rois, numbers({6}, {0, 1, 0, 2, 0, 0}, DType::kI64)};
  std::vector<HostTensor> tensors;
  for (int i = 0; i < 3; ++i) tensors.push_back(fill_input({"x", RoiAlign{}, inputs}, i));
  const auto outputs = run_reference(RoiAlign{}, tensors);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().message, "batch index 2 is outside [0, 2)");
}

}  // namespace
}  // namespace kiln
