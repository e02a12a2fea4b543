#include "steps/non_max_suppression.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

StepTensor tensor(DType dtype, int rank) { return {.dtype = dtype, .format = {}, .rank = rank}; }

TEST(NonMaxSuppressionStep, SaysWhatIsWrong) {
  const auto error_of = [](const Status& status) { return status ? "" : status.error().message; };
  const AnyStep step = steps::NonMaxSuppression{};
  const StepTypes whole{{tensor(DType::kF16, 3),
                         tensor(DType::kF16, 3),
                         tensor(DType::kI64, 0),
                         tensor(DType::kF32, 1),
                         {.present = false}},
                        {tensor(DType::kI64, 2), tensor(DType::kI32, 0)},
                        0,
                        1};
  const auto types_error = [&](size_t input, const StepTensor& other) {
    StepTypes types = whole;
    types.inputs[input] = other;
    return error_of(step.check(types));
  };
  EXPECT_EQ(error_of(step.check(whole)), "");
  EXPECT_EQ(types_error(1, tensor(DType::kF32, 3)), "boxes of f16 and scores of f32; one of f32, f16 and bf16 needed");
  EXPECT_EQ(types_error(0, tensor(DType::kF16, 2)), "boxes of rank 2 and scores of rank 3; 3 or 4, and 3 needed");
  EXPECT_EQ(types_error(2, tensor(DType::kF32, 0)), "a number of boxes is f32; i32 or i64 needed");
  EXPECT_EQ(types_error(4, tensor(DType::kI32, 0)), "a threshold is i32; f32, f16 or bf16 needed");
  StepTypes narrow = whole;
  narrow.outputs[0] = tensor(DType::kI32, 2);
  EXPECT_EQ(error_of(step.check(narrow)),
            "indices of boxes are i32 of format linear; row-major i64 needed, which i32 or i64 may be");
  narrow = whole;
  narrow.outputs[1] = tensor(DType::kI64, 0);
  EXPECT_EQ(error_of(step.check(narrow)), "the number of selected boxes is i64; i32 needed");

  const auto shapes_error = [&](Extents boxes, Extents scores, Extents selected, Extents most = {}) {
    const Extents inputs[] = {std::move(boxes), std::move(scores), std::move(most), {1}, {}};
    const Extents outputs[] = {std::move(selected), {}};
    return error_of(step.check(whole, {.inputs = inputs, .outputs = outputs, .params = {}}));
  };
  EXPECT_EQ(shapes_error({2, 5, 4}, {2, 5, 3}, {30, 3}), "");
  EXPECT_EQ(shapes_error({2, 5, 4}, {2, 5, 3}, {4, 3}), "") << "less may be known to be there";
  EXPECT_EQ(shapes_error({2, 5, 4}, {2, 6, 3}, {4, 3}),
            "boxes are [2, 5, 4] and scores [2, 6, 3]; [b, n, 4] or [b, n, c, 4], and [b, n, c] needed");
  EXPECT_EQ(shapes_error({2, 5, 4}, {2, 5, 3}, {31, 3}),
            "selected boxes are [31, 3]; of scores [2, 5, 3] there are [30, 3] at most");
  EXPECT_EQ(shapes_error({1, int64_t{1} << 31, 4}, {1, int64_t{1} << 31, 3}, {4, 3}),
            "scores [1, 2147483648, 3] are of 2^31 boxes or more");
  EXPECT_EQ(shapes_error({2, 5, 4}, {2, 5, 3}, {30, 3}, {2}),
            "a limit of selected boxes is [2]; 1 elements are needed");
}

}  // namespace
}  // namespace kiln
