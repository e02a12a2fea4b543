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

}  // namespace
}  // namespace kiln
