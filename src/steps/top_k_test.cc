#include "steps/top_k.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(TopKStep, SaysWhatIsWrong) {
  const steps::TopK step{.axis = 1};
  const StepTensor x{.dtype = DType::kF16, .format = {}, .rank = 2},
      indices{.dtype = DType::kI64, .format = {}, .rank = 2};
  const auto error_of = [&](const Status& status) { return status ? "" : status.error().message; };
  const auto types_error = [&](const steps::TopK& top_k, const StepTensor& in, const StepTensor& values,
                               const StepTensor& places) {
    return error_of(AnyStep(top_k).check(StepTypes{{in}, {values, places}, 0}));
  };
  EXPECT_EQ(types_error(step, x, x, indices), "");
  EXPECT_EQ(types_error({.axis = 2}, x, x, indices), "a top_k's axis 2 is outside [0, 2)");
  const StepTensor flags{.dtype = DType::kBool, .format = {}, .rank = 2};
  EXPECT_EQ(types_error(step, flags, flags, indices), "a top_k of bool has no kernel");
  EXPECT_EQ(types_error(step, x, x, x), "a top_k's indices are f16 of format linear; row-major i32 or i64 needed");
  const auto shapes_error = [&](const Extents& in, const Extents& values, const Extents& places) {
    const Extents outputs[] = {values, places};
    return error_of(
        AnyStep(step).check({{x}, {x, indices}, 0}, {.inputs = {&in, 1}, .outputs = outputs, .params = {}}));
  };
  EXPECT_EQ(shapes_error({3, 5}, {3, 2}, {3, 2}), "");
  EXPECT_EQ(shapes_error({3, 5}, {3, 6}, {3, 6}), "a top_k's k 6 is above 5, its row");
  EXPECT_EQ(shapes_error({3, kMostSorted}, {3, 6}, {3, 6}),
            "a top_k's row has 2147483648 elements; fewer than 2147483648 needed");
  EXPECT_NE(shapes_error({3, 5}, {4, 2}, {4, 2}), "");
  EXPECT_NE(shapes_error({3, 5}, {3, 2}, {3, 3}), "");
}

}  // namespace
}  // namespace kiln
