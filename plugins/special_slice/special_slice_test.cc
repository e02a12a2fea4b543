#include <gtest/gtest.h>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

TEST(SpecialSlice, TakesTheBoxes) {
  const Tensor x = noise({2, 3, 6}, 1);
  Tensor y{{2, 3, 4}, {}};
  for (size_t i = 0; i < 6; ++i)
    for (size_t k = 0; k < 4; ++k) y.values.push_back(x.values[i * 6 + k]);
  expect_outputs("SpecialSlice_TRT", "1", {}, {x}, {y});
  expect_outputs("SpecialSlice_TRT", "1", {}, {in_halves(x)}, {in_halves(y)});
}

TEST(SpecialSlice, RefusesOtherDetections) {
  EXPECT_NE(
      error_of("SpecialSlice_TRT", "1", {}, {noise({2, 3, 7}, 1)}).find("as many numbers as a detection has; it is 7"),
      std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
