#include <gtest/gtest.h>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

constexpr const char* kName = "CustomFCPluginDynamic";
const std::vector<float> kWeights = {1, 2, 3, 4, 5, 6};  // [3, 2]

Attributes attributes(int32_t type) {
  return Attributes()
      .set("out_dims", std::vector<int32_t>{2})
      .set("type_id", std::vector<int32_t>{type})
      .set("W", kWeights);
}

TEST(FullyConnected, MultipliesRows) {
  for (const nv::DataType type : {nv::DataType::kFLOAT, nv::DataType::kHALF}) {
    const Tensor x = noise({4, 2, 3, 1, 1}, 1, type);
    Tensor y{{4, 2, 2, 1, 1}, {}, type};
    for (size_t row = 0; row < 8; ++row)
      for (size_t column = 0; column < 2; ++column) {
        double value = 0;
        for (size_t k = 0; k < 3; ++k) value += x.values[row * 3 + k] * kWeights[k * 2 + column];
        y.values.push_back(value);
      }
    expect_outputs(kName, "1", attributes(type == nv::DataType::kHALF), {x}, {y},
                   type == nv::DataType::kHALF ? 5e-3 : 1e-5);
  }
}

TEST(FullyConnected, RefusesOtherDepths) {
  EXPECT_NE(error_of(kName, "1", attributes(0), {noise({4, 2, 4, 1, 1}, 1)})
                .find("axis 2 of input 0 has to be 3 long, as many as W has rows; it is 4"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
