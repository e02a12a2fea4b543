#include "steps/pointwise_depthwise.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

std::string error_of(const Status& status) { return status ? "" : status.error().message; }

/// Pixels of 4 channels to 6, then a kernel of 3x3 a channel; the second has a bias.
steps::PointwiseDepthwise example() {
  steps::PointwiseDepthwise step;
  step.pointwise.window = {.kernel = {1, 1}, .strides = {1, 1}, .dilations = {1, 1}, .pads = {0, 0}};
  step.depthwise.window = {.kernel = {3, 3}, .strides = {1, 1}, .dilations = {1, 1}, .pads = {1, 1}};
  step.depthwise.groups = 6;
  step.depthwise.epilogue.bias = DType::kF32;
  return step;
}
StepTypes example_types() {
  const StepTensor x{DType::kF32, Format::channels_last(4), 4}, w{DType::kF32, {}, 4}, bias{DType::kF32, {}, 1},
      none{DType::kF32, {}, 0, false};
  return {{x, w, none, none, w, bias, none}, {x}};
}
std::string error_of(const steps::PointwiseDepthwise& step, const StepTypes& types) {
  return error_of(AnyStep(step).check(types));
}
std::string error_of(const Extents& first, const Extents& second) {
  const std::vector<Extents> inputs{{2, 4, 5, 7}, first, {}, {}, second, {6}, {}}, outputs{{2, 6, 5, 7}};
  return error_of(AnyStep(example()).check(example_types(), {.inputs = inputs, .outputs = outputs, .params = {}}));
}

TEST(PointwiseDepthwise, SaysWhatIsWrong) {
  EXPECT_EQ(error_of(example(), example_types()), "");
  steps::PointwiseDepthwise step = example();
  step.pointwise.window.strides = {2, 1};
  EXPECT_EQ(error_of(step.check()), "the first of two convolutions in one step is not of single pixels in one group");
  step = example();
  step.pointwise.epilogue.residual = DType::kF32;
  EXPECT_EQ(error_of(step.check()), "two convolutions in one step join inputs, or the first adds a residual");
  StepTypes types = example_types();
  types.inputs[4].present = false;
  EXPECT_EQ(error_of(example(), types), "two convolutions in one step lack the weights of the second");
  types = example_types();
  types.outputs[0].format = {};
  EXPECT_EQ(error_of(example(), types), "two convolutions in one step make format linear; channels must be last");
  types = example_types();
  types.inputs[5].present = false;
  EXPECT_EQ(error_of(example(), types), "input 2 of a contraction is absent; its epilogue reads f32");
}

TEST(PointwiseDepthwise, WeightsFitEachOther) {
  EXPECT_EQ(error_of({6, 4, 1, 1}, {6, 1, 3, 3}), "");
  EXPECT_EQ(error_of({8, 4, 1, 1}, {6, 1, 3, 3}), "a depthwise convolution in 6 groups follows weights [8, 4, 1, 1]");
  EXPECT_EQ(error_of({6, 4, 1, 1}, {12, 1, 3, 3}),
            "weights [12, 1, 3, 3] are not those of a depthwise convolution in 6 groups");
  EXPECT_EQ(error_of({6, 5, 1, 1}, {6, 1, 3, 3}),
            "a convolution by [1, 1] of 4 to 6 channels in 1 groups has weights [6, 5, 1, 1]");
}

}  // namespace
}  // namespace kiln
