#include "runtime/weight_store.h"

#include <gtest/gtest.h>

#include "ops/expand.h"

namespace kiln::runtime {
namespace {

TEST(WeightStore, ComputesNothingOfOtherExtentsThanThePlanHas) {
  const auto error_of = [](std::vector<int64_t> dims) {
    const HostTensor one = HostTensor::scalar(DType::kF32, 1),
                     stored = HostTensor::of(DType::kF32, {2}, std::vector<double>{1, 1});
    plan::Plan plan;
    plan.sources = {{.name = "w", .dtype = DType::kF32, .extents = {}, .fixed = {}, .checksum = {}}};
    plan.derived = {{.op = ops::Expand{std::move(dims)}, .inputs = {{.source = 0}}, .extents = {2}}};
    plan.weights = {{.name = "expanded", .value = stored, .from = {.derived = 0}}};
    const auto made = with_weights(std::move(plan), {{"w", one}});
    return made ? "none" : made.error().message;
  };
  EXPECT_EQ(error_of({2}), "none");
  EXPECT_EQ(error_of({1 << 20, 1 << 26}),
            "weights 'expanded': Expand makes f32[1048576, 67108864], not f32[2]: the plan is damaged, build it again");
}

}  // namespace
}  // namespace kiln::runtime
