#include "steps/unique.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

StepTensor tensor(DType dtype, int rank) { return {.dtype = dtype, .format = {}, .rank = rank}; }

TEST(UniqueStep, SaysWhatIsWrong) {
  const auto error_of = [](const Status& status) { return status ? "" : status.error().message; };
  const StepTensor x = tensor(DType::kF16, 2), numbers = tensor(DType::kI64, 1);
  const StepTypes types{{x}, {x, numbers, numbers, numbers}, 0, 1};
  const AnyStep columns = steps::Unique{.op = {.axis = -1}};
  EXPECT_EQ(error_of(columns.check(types)), "");
  EXPECT_EQ(error_of(AnyStep(steps::Unique{.op = {.axis = 2}}).check(types)), "a unique's axis 2 is outside [-2, 2)");
  const StepTensor doubles = tensor(DType::kF64, 2);
  EXPECT_EQ(error_of(columns.check(StepTypes{{doubles}, {doubles, numbers, numbers, numbers}, 0, 1})),
            "a unique of f64 has no kernel");
  EXPECT_EQ(error_of(columns.check(StepTypes{{x}, {x, numbers, tensor(DType::kI32, 1), numbers}, 0, 1})),
            "a unique's numbers are i32; row-major i64 needed");
  EXPECT_NE(error_of(columns.check(StepTypes{{x}, {doubles, numbers, numbers, numbers}, 0, 1})), "");
  const auto shapes_error = [&](const Extents& from, const std::vector<Extents>& outputs) {
    return error_of(columns.check(types, {.inputs = {&from, 1}, .outputs = outputs, .params = {}}));
  };
  EXPECT_EQ(shapes_error({3, 5}, {{3, 5}, {5}, {5}, {5}}), "");
  EXPECT_EQ(shapes_error({3, 5}, {{3, 2}, {2}, {5}, {2}}), "") << "less may be known to be there";
  EXPECT_EQ(shapes_error({3, 5}, {{3, 6}, {6}, {5}, {6}}),
            "a unique's first places have extents [6]; there are 5 at most");
  EXPECT_NE(shapes_error({3, 5}, {{3, 5}, {5}, {4}, {5}}), "");
  EXPECT_NE(shapes_error({3, 5}, {{2, 5}, {5}, {5}, {5}}), "");
  EXPECT_NE(shapes_error({3, 5}, {{3, 5}, {5}, {5}, {4}}), "");
}

}  // namespace
}  // namespace kiln
