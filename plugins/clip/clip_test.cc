#include <gtest/gtest.h>

#include <algorithm>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

const Attributes kBounds =
    Attributes().set("clipMin", std::vector<float>{-0.25F}).set("clipMax", std::vector<float>{0.5F});

TEST(Clip, StaysWithinBounds) {
  for (const nv::DataType type : {nv::DataType::kFLOAT, nv::DataType::kHALF}) {
    const Tensor x = noise({2, 3, 4}, 1, type);
    Tensor y = x;
    for (double& value : y.values) value = std::clamp(value, -0.25, 0.5);
    expect_outputs("Clip_TRT", "1", kBounds, {x}, {y});
  }
}

TEST(Clip, RefusesMissingBounds) {
  EXPECT_NE(error_of("Clip_TRT", "1", Attributes().set("clipMin", std::vector<float>{0}), {noise({2}, 1)})
                .find("field 'clipMax' is missing"),
            std::string::npos);
  EXPECT_NE(error_of("Clip_TRT", "1",
                     Attributes().set("clipMin", std::vector<float>{0}).set("clipMax", std::vector<float>{0, 1}),
                     {noise({2}, 1)})
                .find("field 'clipMax' has 2 numbers"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
