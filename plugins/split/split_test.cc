#include <gtest/gtest.h>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

Attributes parts(int32_t axis, std::vector<int32_t> lengths) {
  return Attributes().set("axis", std::vector<int32_t>{axis}).set("output_lengths", std::move(lengths));
}

TEST(Split, CutsAnAxis) {
  const Tensor x = noise({2, 5, 3}, 1);
  Tensor a{{2, 1, 3}, {}}, b{{2, 4, 3}, {}};
  for (size_t i = 0; i < x.values.size(); ++i) (i / 3 % 5 == 0 ? a : b).values.push_back(x.values[i]);
  for (const int32_t axis : {1, -2}) expect_outputs("Split", "1", parts(axis, {1, 4}), {x}, {a, b});
  expect_outputs("Split", "1", parts(1, {1, 4}), {in_halves(x)}, in_halves({a, b}));
}

TEST(Split, RefusesLengthsThatDoNotFit) {
  const Tensor x = noise({2, 5, 3}, 1);
  EXPECT_NE(error_of("Split", "1", parts(1, {1, 3}), {x})
                .find("axis 1 of input 0 has to be 4 long, as output_lengths add up to; it is 5"),
            std::string::npos);
  EXPECT_NE(run(Way::kDynamicLayers, "Split", "1", parts(1, {1, 3}), {x})
                .error.find("Split version 1: axis 1 of input 0 has to be 4 long, as output_lengths add up to"),
            std::string::npos);
  EXPECT_NE(error_of("Split", "1", parts(3, {1, 3}), {x}).find("axis is 3; input 0 has rank 3"), std::string::npos);
  EXPECT_NE(error_of("Split", "1", parts(1, {}), {x}).find("output_lengths are missing"), std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
