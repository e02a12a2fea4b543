#include "steps/squeeze_excite.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

std::string error_of(const Status& status) { return status ? "" : status.error().message; }

steps::SqueezeExcite example() {
  const NestProgram same{{}, {DType::kF16}, {DType::kF16}, {~0}};
  return {same, same};
}
StepTypes example_types() {
  const StepTensor x{DType::kF16, Format::channels_last(4), 4}, w{DType::kF16, {}, 4}, none{DType::kF32, {}, 0, false};
  return {{x, w, w, w, none}, {x}, 0};
}

TEST(SqueezeExcite, SaysWhatIsWrong) {
  StepTypes types = example_types();
  EXPECT_EQ(error_of(AnyStep(example()).check(types)), "");
  types.inputs[3].dtype = DType::kF32;
  EXPECT_EQ(error_of(AnyStep(example()).check(types)),
            "squeeze and excitation has weights of f16 and of f32; one type is needed");
  types = example_types();
  types.inputs[0].format = types.outputs[0].format = {};
  EXPECT_EQ(error_of(AnyStep(example()).check(types)),
            "squeeze and excitation has format linear; channels must be last");
  steps::SqueezeExcite step = example();
  step.gate = {{}, {DType::kI32}, {DType::kI32}, {~0}};
  EXPECT_EQ(error_of(AnyStep(step).check(example_types())),
            "a function in squeeze and excitation does not take and give one float");
}

TEST(SqueezeExcite, WeightsAreOfItsChannels) {
  const std::vector<Extents> good = {{2, 8, 5, 5}, {4, 8, 1, 1}}, bad = {{2, 8, 5, 5}, {4, 9, 1, 1}},
                             y = {{2, 8, 5, 5}};
  EXPECT_EQ(error_of(AnyStep(example()).check({}, {.inputs = good, .outputs = y, .params = {}})), "");
  EXPECT_EQ(error_of(AnyStep(example()).check({}, {.inputs = bad, .outputs = y, .params = {}})),
            "squeeze and excitation of [2, 8, 5, 5] does not take weights [4, 9, 1, 1]");
}

}  // namespace
}  // namespace kiln
