#include "steps/nest.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

/// x + y, of floats.
steps::Nest sum() {
  return {{{{.fn = ScalarFn::kSum, .args = {~0, ~1}}}, {DType::kF32, DType::kF32}, {DType::kF32}, {0}}};
}

TEST(Nest, TakesTheTensorsOfItsProgram) {
  const StepTensor x{.dtype = DType::kF32, .format = {}, .rank = 2},
      half{.dtype = DType::kF16, .format = {}, .rank = 2};
  const auto error_of = [](const steps::Nest& step, const StepTypes& types) {
    const Status status = AnyStep(step).check(types);
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(error_of(sum(), {{x, x}, {x}, 0}), "");
  EXPECT_EQ(error_of(sum(), {{x}, {x}, 0}), "a nest whose program has 2 inputs has 1");
  EXPECT_EQ(error_of(sum(), {{x, half}, {x}, 0}), "input 1 of a nest is f16; its program says f32");
  EXPECT_EQ(error_of(sum(), {{x, x}, {half}, 0}), "output 0 of a nest is f16; its program says f32");
  EXPECT_EQ(error_of(steps::Nest{}, {{}, {x}, 0}), "a nest has no output");
}

TEST(Nest, InputsAreBroadcast) {
  const auto error_of = [](const std::vector<Extents>& inputs, const std::vector<Extents>& outputs) {
    const Status status = AnyStep(sum()).check({}, {.inputs = inputs, .outputs = outputs, .params = {}});
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(error_of({{2, 3}, {3}}, {{2, 3}}), "");
  EXPECT_EQ(error_of({{2, 3}, {2}}, {{2, 3}}), "input [2] of a nest does not broadcast to [2, 3]");
  EXPECT_EQ(error_of({{2, 3}, {1, 2, 3}}, {{2, 3}}), "input [1, 2, 3] of a nest does not broadcast to [2, 3]");
  EXPECT_EQ(error_of({{2, 3}, {3}}, {{2, 3}, {3, 2}}),
            "a nest's output is [3, 2]; the step's other tensors imply [2, 3]");
}

/// x + y, where y is a view of a tensor of three times as many channels.
TEST(Nest, ViewsLieWithinTheirTensor) {
  const StepTensor x{.dtype = DType::kF32, .format = {}, .rank = 2};
  steps::Nest step = sum();
  step.views = {1};
  const StepTypes types{.inputs = {x, x}, .outputs = {x}, .num_params = 3};
  EXPECT_TRUE(AnyStep(step).check(types));
  const auto error_of = [&](std::vector<int64_t> params) {
    const std::vector<Extents> inputs{{2, 3}, {2, 9}}, outputs{{2, 3}};
    const Status status = AnyStep(step).check(types, {.inputs = inputs, .outputs = outputs, .params = params});
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(error_of({3, 9, 1}), "");
  EXPECT_EQ(error_of({8, 9, -1}), "");
  EXPECT_EQ(error_of({17, 0, 0}), "");
  EXPECT_EQ(error_of({7, 9, 1}), "a view of a nest reads elements 7 to 18 of [2, 9]");
  EXPECT_EQ(error_of({1, 9, -1}), "a view of a nest reads elements -1 to 10 of [2, 9]");
  EXPECT_EQ(error_of({1, INT64_MAX, 4}), "a view of a nest has a stride of 9223372036854775807 along 2 elements");
}
TEST(Nest, ViewsHaveTheirParameters) {
  const StepTensor x{.dtype = DType::kF32, .format = {}, .rank = 2};
  const auto error_of = [&](std::vector<int64_t> views, int params) {
    steps::Nest step = sum();
    step.views = std::move(views);
    const Status status = AnyStep(step).check({.inputs = {x, x}, .outputs = {x}, .num_params = params});
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(error_of({0, 1}, 6), "");
  EXPECT_EQ(error_of({0, 1}, 3), "a nest with 2 views has 3 parameters; it takes 6");
  EXPECT_EQ(error_of({}, 3), "a nest with 0 views has 3 parameters; it takes 0");
  EXPECT_EQ(error_of({2}, 3), "view 0 of a nest is input 2; ascending ones of 2 are possible");
  EXPECT_EQ(error_of({1, 1}, 6), "view 1 of a nest is input 1; ascending ones of 2 are possible");
}

}  // namespace
}  // namespace kiln
