#include "steps/reduce.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

std::string error_of(const Status& status) { return status ? "" : status.error().message; }

TEST(Reduce, AxesIncreaseWithinTheRank) {
  const StepTensor x{.dtype = DType::kF32, .format = {}, .rank = 3};
  const auto axes = [&](std::vector<int> axes) {
    return error_of(AnyStep(steps::Reduce{.axes = std::move(axes)}).check({{x}, {x}, 0}));
  };
  EXPECT_EQ(axes({}), "");
  EXPECT_EQ(axes({0, 2}), "");
  EXPECT_EQ(axes({1, 1}), "axes [1, 1] are not ascending axes of a reduction of rank 3");
  EXPECT_EQ(axes({2, 0}), "axes [2, 0] are not ascending axes of a reduction of rank 3");
  EXPECT_EQ(axes({1, 3}), "axes [1, 3] are not ascending axes of a reduction of rank 3");
  EXPECT_EQ(axes({-1}), "axes [-1] are not ascending axes of a reduction of rank 3");
  EXPECT_TRUE((steps::Reduce{.axes = {1, 2}}.are_neighbours()));
  EXPECT_FALSE((steps::Reduce{.axes = {0, 2}}.are_neighbours()));
  EXPECT_FALSE(steps::Reduce{}.are_neighbours());
}

TEST(Reduce, ResultsHaveWhatIsKept) {
  const std::vector<Extents> x = {{2, 3, 5}}, kept = {{2, 5}}, other = {{3}};
  const StepTypes last{{{DType::kF32, Format::channels_last(3), 3}}, {{DType::kF32, {}, 2}}, 0};
  const AnyStep step = steps::Reduce{.axes = {2}};  // the channels, which lie behind
  EXPECT_EQ(error_of(step.check(last, {.inputs = x, .outputs = kept, .params = {}})), "");
  EXPECT_EQ(error_of(step.check(last, {.inputs = x, .outputs = other, .params = {}})),
            "a reduction's result is [3]; 10 elements are needed");
}

}  // namespace
}  // namespace kiln
