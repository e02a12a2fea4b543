#include "steps/resize.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

StepTypes types(std::vector<StepTensor> inputs) { return {inputs, {inputs[0]}, 0}; }

TEST(Resize, SaysWhatIsWrong) {
  const StepTensor x{.dtype = DType::kF16, .format = {}, .rank = 4}, floats{DType::kF32, {}, 1},
      none{DType::kF32, {}, 0, false};
  const steps::Resize plain, crop{.op = {.coordinate = CoordinateTransformation::kTfCropAndResize}};
  const auto error_of = [](const steps::Resize& step, const StepTypes& types) {
    const Status status = AnyStep(step).check(types);
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(error_of(plain, types({x})), "");
  EXPECT_EQ(error_of(plain, types({x, none, floats})), "");
  EXPECT_EQ(error_of(crop, types({x, floats, none})), "");
  EXPECT_EQ(error_of(plain, types({x, none})), "a resize has two inputs; one or three are needed");
  EXPECT_EQ(error_of(crop, types({x})), "a resize lacks its roi");
  EXPECT_EQ(error_of(plain, types({x, floats, none})), "a resize has a roi that it does not use");
  EXPECT_EQ(error_of(plain, types({x, none, x})), "input 2 of a resize is f16 of rank 4; f32 of rank 1 is needed");
  StepTypes other = types({x});
  other.outputs[0].dtype = DType::kF32;
  EXPECT_EQ(error_of(plain, other),
            "a resize's output is f32 in format linear; the step's other tensors imply f16 in format linear");
}

}  // namespace
}  // namespace kiln
