#include <gtest/gtest.h>

#include <cmath>

#include "testing/plugin_bench.h"
#include "testing/reference_sampling.h"

namespace kiln::plugins::testing {
namespace {

class MultiscaleDeformableAttention : public ::testing::TestWithParam<const char*> {};

TEST_P(MultiscaleDeformableAttention, SumsSamplesOfAllLevels) {
  constexpr int64_t kBatch = 2, kHeads = 2, kSize = 3, kQueries = 4, kLevels = 2, kPoints = 3;
  const Tensor shapes = ints({kLevels, 2}, {4, 5, 2, 3}), starts = ints({kLevels}, {0, 20});
  const Tensor values = noise({kBatch, 26, kHeads, kSize}, 1),
               weights = noise({kBatch, kQueries, kHeads, kLevels, kPoints}, 2);
  Tensor locations = noise({kBatch, kQueries, kHeads, kLevels, kPoints, 2}, 3);
  for (double& value : locations.values) value = 0.5 + 0.75 * value;  // some are outside
  locations.values = in_halves(locations).values;
  Tensor y{{kBatch, kQueries, kHeads, kSize}, {}};
  for (int64_t n = 0; n < kBatch; ++n)
    for (int64_t q = 0; q < kQueries; ++q)
      for (int64_t m = 0; m < kHeads; ++m)
        for (int64_t d = 0; d < kSize; ++d) {
          double total = 0;
          for (int64_t l = 0; l < kLevels; ++l) {
            const auto height = static_cast<int64_t>(shapes.values[static_cast<size_t>(2 * l)]),
                       width = static_cast<int64_t>(shapes.values[static_cast<size_t>(2 * l + 1)]);
            std::vector<double> plane;
            for (int64_t i = 0; i < height * width; ++i) {
              const int64_t pixel = static_cast<int64_t>(starts.values[static_cast<size_t>(l)]) + i;
              plane.push_back(values.values[static_cast<size_t>(((n * 26 + pixel) * kHeads + m) * kSize + d)]);
            }
            for (int64_t p = 0; p < kPoints; ++p) {
              const auto at = static_cast<size_t>((((n * kQueries + q) * kHeads + m) * kLevels + l) * kPoints + p);
              total += weights.values[at] *
                       between_pixels_and_zeros(plane.data(), height, width,
                                                locations.values[2 * at + 1] * static_cast<double>(height) - 0.5,
                                                locations.values[2 * at] * static_cast<double>(width) - 0.5);
            }
          }
          y.values.push_back(total);
        }
  const std::vector<Tensor> inputs = {values, shapes, starts, locations, weights};
  expect_outputs("MultiscaleDeformableAttnPlugin_TRT", GetParam(), {}, inputs, {y});
  expect_outputs("MultiscaleDeformableAttnPlugin_TRT", GetParam(), {}, in_halves(inputs), {in_halves(y)},
                 kHalfTolerance);
}

/// values of 26 pixels, and the rest for two levels.
std::vector<Tensor> inputs_of(Tensor shapes, Tensor starts) {
  return {noise({1, 26, 1, 3}, 1), std::move(shapes), std::move(starts), noise({1, 2, 1, 2, 1, 2}, 2),
          noise({1, 2, 1, 2, 1}, 3)};
}

TEST_P(MultiscaleDeformableAttention, LevelsOfConstantsHaveAllPixels) {
  constexpr const char* kName = "MultiscaleDeformableAttnPlugin_TRT";
  const auto error = [&](std::vector<double> shapes, std::vector<double> starts) {
    return error_of(kName, GetParam(), {},
                    inputs_of(as_constant(ints({2, 2}, std::move(shapes))), as_constant(ints({2}, std::move(starts)))));
  };
  const auto has = [](const std::string& text, const char* words) { return text.find(words) != std::string::npos; };
  EXPECT_EQ(error({4, 5, 2, 3}, {0, 20}), "");
  for (const auto& [shapes, starts, words] :
       {std::tuple{std::vector<double>{4, 5, 2, 2}, std::vector<double>{0, 20},
                   "axis 1 of input 0 has to be 24 long, as many as the levels have pixels; it is 26"},
        std::tuple{std::vector<double>{4, 5, 0, 3}, std::vector<double>{0, 20}, "level 1 is 0 by 3"},
        std::tuple{std::vector<double>{4, 5, 2, 3}, std::vector<double>{0, 21},
                   "level 1, 2 by 3, starts at pixel 21; there are 26"},
        std::tuple{std::vector<double>{4, 5, 2, 3}, std::vector<double>{-1, 20},
                   "level 0, 4 by 5, starts at pixel -1; there are 26"}}) {
    const std::string text = error(shapes, starts);
    EXPECT_TRUE(has(text, words)) << words << ": " << text;
  }
}

TEST_P(MultiscaleDeformableAttention, APixelBehindTheLastOneIsAnErrorOfTheRun) {
  const std::string text = error_of("MultiscaleDeformableAttnPlugin_TRT", GetParam(), {},
                                    inputs_of(ints({2, 2}, {4, 5, 2, 3}), ints({2}, {0, 1000})));
  // On a GPU "the data, whose extents are [1, 26, 3]".
  EXPECT_TRUE(text.contains("is outside [-26, 26)") || text.contains("is outside the data, whose extents are [1, 26"))
      << text;
}

TEST_P(MultiscaleDeformableAttention, RefusesInputsOfOtherExtents) {
  std::vector<Tensor> inputs = inputs_of(ints({2, 2}, {4, 5, 2, 3}), ints({2}, {0, 20}));
  const auto error = [&](size_t input, const Tensor& tensor) {
    std::vector<Tensor> changed = inputs;
    changed[input] = tensor;
    return error_of("MultiscaleDeformableAttnPlugin_TRT", GetParam(), {}, changed);
  };
  for (const auto& [input, tensor, words] :
       {std::tuple{1, ints({2, 3}, std::vector<double>(6, 1)), "axis 1 of input 1 has to be 2 long; it is 3"},
        std::tuple{2, ints({3}, {0, 0, 0}), "axis 0 of input 2 has to be as long as axis 0 of input 1; it is 3, not 2"},
        std::tuple{3, noise({1, 2, 1, 3, 1, 2}, 2),
                   "axis 3 of input 3 has to be as long as axis 0 of input 1; it is 3, not 2"},
        std::tuple{4, noise({1, 4, 1, 2, 1}, 2),
                   "axis 1 of input 4 has to be as long as axis 1 of input 3; it is 4, not 2"},
        std::tuple{4, noise({1, 2, 1, 2, 2}, 2),
                   "axis 4 of input 4 has to be as long as axis 4 of input 3; it is 2, not 1"}}) {
    const std::string text = error(static_cast<size_t>(input), tensor);
    EXPECT_NE(text.find(words), std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, MultiscaleDeformableAttention, ::testing::Values("1", "2"));

}  // namespace
}  // namespace kiln::plugins::testing
