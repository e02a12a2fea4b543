#include "steps/scatter.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(ScatterStep, ReducesTheTypesThatItSays) {
  EXPECT_TRUE(can_scatter(ScatterReduction::kMax, DType::kBF16));
  EXPECT_FALSE(can_scatter(ScatterReduction::kMax, DType::kI8));
  EXPECT_TRUE(can_scatter(ScatterReduction::kNone, DType::kI8));
  EXPECT_FALSE(can_scatter(ScatterReduction::kNone, DType::kI4));
  const auto error_of = [](ScatterReduction reduction, DType type) {
    const StepTensor data{.dtype = type, .format = {}, .rank = 1},
        indices{.dtype = DType::kI32, .format = {}, .rank = 1};
    const Status status =
        AnyStep(steps::Scatter{.op = {.reduction = reduction}}).check(StepTypes{{data, indices, data}, {data}});
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(error_of(ScatterReduction::kSum, DType::kF16), "");
  EXPECT_EQ(error_of(ScatterReduction::kNone, DType::kU8), "");
  EXPECT_EQ(error_of(ScatterReduction::kProd, DType::kU8), "a scatter of u8 by the reduction prod has no kernel");
}

}  // namespace
}  // namespace kiln
