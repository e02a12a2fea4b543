#include "steps/grid_sample.h"

#include <gtest/gtest.h>

#include "steps/roi_align.h"

namespace kiln {
namespace {

StepTensor tensor(DType dtype, int rank) { return {.dtype = dtype, .format = {}, .rank = rank}; }
std::string error_of(const Status& status) { return status ? "" : status.error().message; }
std::string shapes_error(const AnyStep& step, const StepTypes& types, const std::vector<Extents>& inputs,
                         const Extents& output) {
  return error_of(step.check(types, {.inputs = inputs, .outputs = std::span(&output, 1), .params = {}}));
}

TEST(GridSampleStep, SaysWhatIsWrong) {
  const AnyStep step = steps::GridSample{};
  const StepTensor image = tensor(DType::kF16, 4), grid = tensor(DType::kF32, 4);
  const StepTypes types{{image, grid}, {image}, 0};
  EXPECT_EQ(error_of(step.check(types)), "");
  EXPECT_EQ(error_of(step.check({{tensor(DType::kI32, 4), grid}, {image}, 0})),
            "grid_sample of i32 at f32; f32, f16 and bf16 are possible");
  EXPECT_NE(error_of(step.check({{image, grid}, {grid}, 0})), "");
  EXPECT_EQ(shapes_error(step, types, {{1, 3, 4, 5}, {1, 6, 7, 2}}, {1, 3, 6, 7}), "");
  EXPECT_NE(shapes_error(step, types, {{1, 3, 4, 5}, {1, 6, 7, 2}}, {1, 3, 6, 8}), "");
  EXPECT_NE(shapes_error(step, types, {{1, 3, 4, 5}, {1, 6, 7, 3}}, {1, 3, 6, 7}), "");
  EXPECT_EQ(shapes_error(step, types, {{1, 3, 1 << 16, 1 << 15}, {1, 6, 7, 2}}, {1, 3, 6, 7}),
            "an image of 2147483648 pixels; fewer than 2^31 needed");
}
TEST(RoiAlignStep, SaysWhatIsWrong) {
  const AnyStep step = steps::RoiAlign{.op = {.height = 2, .width = 3}};
  const StepTensor image = tensor(DType::kF16, 4), rois = tensor(DType::kF16, 2), batches = tensor(DType::kI32, 1);
  const StepTypes types{{image, rois, batches}, {image}, 0};
  EXPECT_EQ(error_of(step.check(types)), "");
  EXPECT_EQ(error_of(step.check({{image, rois, tensor(DType::kF32, 1)}, {image}, 0})),
            "roi_align's batch_indices are f32");
  EXPECT_EQ(error_of(step.check({{image, batches, batches}, {image}, 0})),
            "roi_align of f16 in i32; f32, f16 and bf16 are possible");
  EXPECT_EQ(error_of(AnyStep(steps::RoiAlign{.op = {.sampling_ratio = 1025}}).check(types)),
            "roi_align of 1025 samples along a bin; kernels take 1024 at most");
  EXPECT_EQ(shapes_error(step, types, {{1, 3, 4, 5}, {6, 4}, {6}}, {6, 3, 2, 3}), "");
  EXPECT_NE(shapes_error(step, types, {{1, 3, 4, 5}, {6, 4}, {7}}, {6, 3, 2, 3}), "");
  EXPECT_NE(shapes_error(step, types, {{1, 3, 4, 5}, {6, 4}, {6}}, {6, 3, 3, 3}), "");
}

}  // namespace
}  // namespace kiln
