#include <gtest/gtest.h>

#include <cmath>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

struct Case {
  bool across_spatial;
  std::vector<float> weights;
};

Attributes attributes(const Case& c) {
  return Attributes()
      .set("weights", c.weights)
      .set("acrossSpatial", std::vector<int32_t>{c.across_spatial})
      .set("channelShared", std::vector<int32_t>{c.weights.size() == 1})
      .set("nbWeights", std::vector<int32_t>{static_cast<int32_t>(c.weights.size())})
      .set("eps", std::vector<float>{0.01F});
}

TEST(Normalize, DividesByTheLength) {
  const Tensor x = noise({2, 3, 2, 4}, 1);
  for (const Case& c : {Case{false, {2}}, Case{false, {1, 2, 3}}, Case{true, {2}}, Case{true, {1, 2, 3}}}) {
    Tensor y = x;
    for (size_t i = 0; i < y.values.size(); ++i) {
      double squares = 0.01F;
      for (size_t k = 0; k < y.values.size(); ++k)
        if (k / 24 == i / 24 && (c.across_spatial || k % 8 == i % 8)) squares += x.values[k] * x.values[k];
      y.values[i] = x.values[i] / std::sqrt(squares) * (c.weights.size() == 1 ? c.weights[0] : c.weights[i / 8 % 3]);
    }
    expect_outputs("Normalize_TRT", "1", attributes(c), {x}, {y});
    expect_outputs("Normalize_TRT", "1", attributes(c), {in_halves(x)}, {in_halves(y)}, kHalfTolerance);
  }
}

/// TensorRT takes no other number: it is that of the lists of weights.
TEST(Normalize, TakesOneAsTheNumberOfManyWeights) {
  const Tensor x = noise({2, 3, 2, 4}, 1);
  const Attributes counted = attributes({false, {1, 2, 3}});
  const Outcome expected = run(Way::kLayers, "Normalize_TRT", "1", counted, {x});
  ASSERT_EQ(expected.outputs.size(), 1U) << expected.error;
  expect_outputs("Normalize_TRT", "1", Attributes(counted).set("nbWeights", std::vector<int32_t>{1}), {x},
                 expected.outputs);
}

TEST(Normalize, RefusesWeightsThatDoNotFit) {
  const Tensor x = noise({2, 3, 2, 4}, 1);
  EXPECT_NE(error_of("Normalize_TRT", "1", attributes({false, {1, 2}}), {x})
                .find("axis 1 of input 0 has to be 2 long, as many as there are weights; it is 3"),
            std::string::npos);
  EXPECT_NE(error_of("Normalize_TRT", "1", {}, {x}).find("there are 0 weights"), std::string::npos);
  const Attributes three = attributes({false, {1, 2, 3}});
  EXPECT_NE(error_of("Normalize_TRT", "1", Attributes(three).set("nbWeights", std::vector<int32_t>{2}), {x})
                .find("nbWeights is 2; there are 3 weights"),
            std::string::npos);
  EXPECT_NE(
      error_of("Normalize_TRT", "1",
               Attributes(three).set("nbWeights", std::vector<int32_t>{1}).set("channelShared", std::vector{1}), {x})
          .find("channelShared is set; there are 3 weights"),
      std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
