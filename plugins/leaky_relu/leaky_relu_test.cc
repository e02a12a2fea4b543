#include <gtest/gtest.h>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

TEST(LeakyRelu, SlopesBelowZero) {
  for (const nv::DataType type : {nv::DataType::kFLOAT, nv::DataType::kHALF}) {
    const Tensor x = noise({2, 3, 4}, 1, type);
    Tensor y = x;
    for (double& value : y.values) value = value > 0 ? value : 0.25 * value;
    expect_outputs("LReLU_TRT", "1", Attributes().set("negSlope", std::vector<float>{0.25F}), {x}, {y}, 1e-4);
  }
}

TEST(LeakyRelu, RefusesAMissingSlope) {
  EXPECT_NE(error_of("LReLU_TRT", "1", {}, {noise({2}, 1)}).find("field 'negSlope' is missing"), std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
