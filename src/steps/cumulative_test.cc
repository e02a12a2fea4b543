#include "steps/cumulative.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(CumulativeStep, SaysWhatIsWrong) {
  const auto error_of = [](const Status& status) { return status ? "" : status.error().message; };
  const StepTensor x{.dtype = DType::kF16, .format = {}, .rank = 2},
      bytes{.dtype = DType::kI8, .format = {}, .rank = 2};
  const AnyStep step = steps::Cumulative{.axis = 1};
  EXPECT_EQ(error_of(step.check({{x}, {x}, 0})), "");
  EXPECT_EQ(error_of(AnyStep(steps::Cumulative{.axis = 2}).check({{x}, {x}, 0})),
            "the axis 2 of running sums is outside [0, 2)");
  EXPECT_EQ(error_of(step.check({{bytes}, {bytes}, 0})),
            "running sums of i8; f32, f16, bf16, f64, i32 and i64 are possible");
  EXPECT_NE(error_of(step.check({{x}, {bytes}, 0})), "");
  const Extents from{2, 3}, other{2, 4};
  EXPECT_EQ(error_of(step.check({{x}, {x}, 0}, {.inputs = {&from, 1}, .outputs = {&from, 1}, .params = {}})), "");
  EXPECT_NE(error_of(step.check({{x}, {x}, 0}, {.inputs = {&from, 1}, .outputs = {&other, 1}, .params = {}})), "");
}

}  // namespace
}  // namespace kiln
