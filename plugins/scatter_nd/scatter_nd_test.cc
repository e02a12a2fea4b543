#include <gtest/gtest.h>

#include <cmath>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

TEST(ScatterNd, ReplacesSlices) {
  for (const nv::DataType type : {nv::DataType::kFLOAT, nv::DataType::kHALF, nv::DataType::kINT32}) {
    Tensor data = noise({4, 3, 2}, 1, type), updates = noise({2, 2}, 2, type);
    if (type == nv::DataType::kINT32)
      for (Tensor* tensor : {&data, &updates})
        for (double& value : tensor->values) value = std::floor(value * 100);
    Tensor indices = ints({2, 2}, {3, 1, 0, 2});
    indices.known_axes = 1;
    Tensor y = data;
    for (size_t i = 0; i < 2; ++i) {
      y.values[static_cast<size_t>((3 * 3 + 1) * 2) + i] = updates.values[i];
      y.values[static_cast<size_t>((0 * 3 + 2) * 2) + i] = updates.values[2 + i];
    }
    expect_outputs("ScatterND", "1", {}, {data, indices, updates}, {y});
  }
}

}  // namespace
}  // namespace kiln::plugins::testing
