#include "steps/convolution.h"

#include <gtest/gtest.h>

#include "steps/deconvolution.h"

namespace kiln::steps {
namespace {

constexpr StepTensor kNone{.present = false};
const Format kLast = Format::channels_last(4);
const Window kWindow{{3, 3}, {2, 2}, {1, 1}, {1, 1}};

StepTypes types() {
  const StepTensor x{DType::kF16, kLast, 4}, w{DType::kF16, {}, 4};
  return {.inputs = {x, w, kNone, kNone}, .outputs = {x}, .num_params = 0};
}
std::string refused(const AnyStep& step, const StepTypes& types) {
  const Status status = step.check(types);
  return status ? "nothing" : status.error().message;
}
std::string refused(const AnyStep& step, const Extents& x, const Extents& w, const Extents& y) {
  const std::vector<Extents> inputs{x, w, {}, {}}, outputs{y};
  const Status status = step.check(types(), {inputs, outputs, {}});
  return status ? "nothing" : status.error().message;
}

TEST(Convolution, TakesFloatsOfItsRank) {
  const Convolution step{.window = kWindow};
  EXPECT_EQ(refused(step, types()), "nothing");
  StepTypes other = types();
  other.inputs[0].dtype = DType::kI8;
  EXPECT_EQ(refused(step, other), "a convolution of i8; f32, f16 and bf16 are possible");
  other = types();
  other.inputs[1].format = kLast;
  EXPECT_EQ(refused(step, other), str("input 1 has format ", kLast, "; its kernel reads it row-major"));
  other = types();
  other.inputs[0].rank = 3;
  EXPECT_EQ(refused(step, other), "a convolution of 2 axes has tensors of ranks 3, 4 and 4");
  EXPECT_EQ(refused(Deconvolution{.window = Window()}, types()),
            "a convolution of 1 axes has tensors of ranks 4, 4 and 4");
}

TEST(Convolution, TakesItsFilter) {
  const Convolution step{.window = kWindow, .groups = 2};
  const Extents x{1, 8, 9, 9}, w{6, 4, 3, 3}, y{1, 6, 5, 5};
  EXPECT_EQ(refused(step, x, w, y), "nothing");
  EXPECT_EQ(refused(step, x, {6, 4, 3, 1}, y),
            "a convolution by [3, 3] of 8 to 6 channels in 2 groups has weights [6, 4, 3, 1]");
  EXPECT_NE(refused(step, x, {6, 8, 3, 3}, y), "nothing");
  EXPECT_NE(refused(step, x, w, {1, 8, 5, 5}), "nothing");
  EXPECT_NE(refused(step, x, {5, 4, 3, 3}, {1, 5, 5, 5}), "nothing");
  EXPECT_FALSE(from_record<Convolution>(to_record(Convolution{.groups = 0})));
}

TEST(Convolution, JoinsTensors) {
  const Convolution step{.window = kWindow, .joined = true};
  StepTypes two = types();
  EXPECT_EQ(refused(step, two), "a contraction whose epilogue reads 2 tensors has 4 inputs");
  two.inputs.push_back(two.inputs[0]);
  EXPECT_EQ(refused(step, two), "nothing");
  two.inputs[4].dtype = DType::kF32;
  EXPECT_EQ(refused(step, two), "a convolution that joins two inputs has no second one of f16");
  const auto takes = [&](const Extents& behind) {
    const std::vector<Extents> inputs{{1, 4, 9, 9}, {6, 8, 3, 3}, {}, {}, behind}, outputs{{1, 6, 5, 5}};
    return step.check(two, {inputs, outputs, {}}).has_value();
  };
  EXPECT_TRUE(takes({1, 4, 9, 9}));
  EXPECT_FALSE(takes({1, 5, 9, 9}));
  EXPECT_FALSE(takes({1, 4, 9, 8}));
}

TEST(Deconvolution, TakesItsFilter) {
  const Deconvolution step{.window = kWindow, .groups = 2};
  const Extents x{1, 6, 5, 5}, w{6, 4, 3, 3}, y{1, 8, 9, 9};
  EXPECT_EQ(refused(step, x, w, y), "nothing");
  EXPECT_NE(refused(step, x, {8, 3, 3, 3}, y), "nothing");
  EXPECT_NE(refused(step, x, w, {1, 4, 9, 9}), "nothing");
  EXPECT_NE(refused(step, x, w, {2, 8, 9, 9}), "nothing");
}

}  // namespace
}  // namespace kiln::steps
