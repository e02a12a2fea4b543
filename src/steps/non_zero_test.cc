#include "steps/non_zero.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(NonZeroStep, SaysWhatIsWrong) {
  const auto error_of = [](const Status& status) { return status ? "" : status.error().message; };
  const StepTensor x{.dtype = DType::kF16, .format = {}, .rank = 3},
      indices{.dtype = DType::kI64, .format = {}, .rank = 2}, narrow{.dtype = DType::kI32, .format = {}, .rank = 2},
      narrowest{.dtype = DType::kF8E4M3, .format = {}, .rank = 3};
  const AnyStep step = steps::NonZero{};
  const auto types_error = [&](const StepTensor& in, const StepTensor& out, int sizes = 1) {
    return error_of(step.check(StepTypes{{in}, {out}, 0, sizes}));
  };
  EXPECT_EQ(types_error(x, indices), "");
  EXPECT_EQ(types_error(narrowest, indices), "a non_zero of f8e4m3 has no kernel");
  EXPECT_EQ(types_error(x, narrow),
            "a non_zero's indices are i32 of format linear; row-major i64 needed, which i32 or i64 may be");
  EXPECT_EQ(types_error(x, indices, 0), "a step of kind 'non_zero' decides 0 sizes, and its kind 1");
  const auto shapes_error = [&](const Extents& in, const Extents& out) {
    return error_of(step.check({{x}, {indices}, 0, 1}, {.inputs = {&in, 1}, .outputs = {&out, 1}, .params = {}}));
  };
  EXPECT_EQ(shapes_error({2, 3, 4}, {3, 24}), "");
  EXPECT_EQ(shapes_error({2, 3, 4}, {3, 5}), "") << "less may be known to be there";
  EXPECT_EQ(shapes_error({2, 3, 4}, {3, 25}),
            "a non_zero's indices have extents [3, 25]; of x [2, 3, 4] there are [3, 24] at most");
  EXPECT_NE(shapes_error({2, 3, 4}, {2, 24}), "");
}

}  // namespace
}  // namespace kiln
