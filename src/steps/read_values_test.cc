#include "steps/read_values.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(ReadValuesStep, SaysWhatIsWrong) {
  const auto error_of = [](const Status& status) { return status ? "" : status.error().message; };
  const auto of = [](DType dtype) { return StepTensor{.dtype = dtype, .format = {}, .rank = 1}; };
  const AnyStep step = steps::ReadValues{};
  const auto types_error = [&](DType in, DType out, int sizes) {
    return error_of(step.check(StepTypes{{of(in)}, {of(out)}, 0, sizes}));
  };
  EXPECT_EQ(types_error(DType::kI64, DType::kI64, 3), "");
  EXPECT_EQ(types_error(DType::kBool, DType::kBool, 0), "");
  EXPECT_EQ(types_error(DType::kF32, DType::kF32, 3), "numbers are read of f32; i32, i64 or bool needed");
  EXPECT_EQ(types_error(DType::kI32, DType::kI32, 65), "65 numbers are read; 64 are possible");
  EXPECT_NE(types_error(DType::kI32, DType::kI64, 3), "");
  const auto shapes_error = [&](const Extents& in, const Extents& out) {
    const StepTypes types{{of(DType::kI32)}, {of(DType::kI32)}, 0, 3};
    return error_of(step.check(types, {.inputs = {&in, 1}, .outputs = {&out, 1}, .params = {}}));
  };
  EXPECT_EQ(shapes_error({3}, {3}), "");
  EXPECT_EQ(shapes_error({4}, {4}), "3 numbers are read of x [4]");
  EXPECT_NE(shapes_error({3}, {4}), "");
}

}  // namespace
}  // namespace kiln
