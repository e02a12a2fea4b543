#include "steps/concatenation.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr StepTensor kMatrix{.dtype = DType::kF16, .format = {}, .rank = 2};

TEST(ConcatenationStep, OfViewsFillsItsOutput) {
  const steps::Concatenation step{.axis = 1, .of_views = true};
  const StepTypes types{.inputs = {kMatrix, kMatrix}, .outputs = {kMatrix}, .num_params = 8};
  EXPECT_TRUE(AnyStep(step).check(types));
  const auto error_of = [&](std::vector<int64_t> params) {
    const std::vector<Extents> inputs{{2, 9}, {5, 2}}, outputs{{2, 7}};
    const Status status = AnyStep(step).check(types, {.inputs = inputs, .outputs = outputs, .params = params});
    return status ? "" : status.error().message;
  };
  // Columns 3, 4 of the first tensor, and the transposed second one.
  EXPECT_EQ(error_of({2, 3, 9, 1, 5, 0, 1, 2}), "");
  EXPECT_EQ(error_of({3, 3, 9, 1, 5, 0, 1, 2}), "views of 8 elements along axis 1 do not make [2, 7]");
  EXPECT_EQ(error_of({2, 8, 9, 1, 5, 0, 1, 2}), "a view of a concatenation reads elements 8 to 18 of [2, 9]");
  EXPECT_EQ(error_of({-1, 3, 9, 1, 8, 0, 1, 2}), "view 0 of a concatenation has -1 elements along axis 1");
}
TEST(ConcatenationStep, OfViewsIsOfOneTypeAndRowMajor) {
  const auto error_of = [](const steps::Concatenation& step, const StepTensor& x, int params) {
    const Status status = AnyStep(step).check({.inputs = {x}, .outputs = {kMatrix}, .num_params = params});
    return status ? "" : status.error().message;
  };
  StepTensor wide = kMatrix;
  wide.dtype = DType::kF32;
  wide.rank = 3;
  EXPECT_NE(error_of({.axis = 1, .of_views = true}, wide, 4), "");
  wide.dtype = DType::kF16;
  EXPECT_EQ(error_of({.axis = 1, .of_views = true}, wide, 4), "");
  EXPECT_EQ(error_of({.axis = 1, .of_views = true}, wide, 3),
            "a concatenation of 1 inputs has 3 parameters; it takes 4");
}

}  // namespace
}  // namespace kiln
