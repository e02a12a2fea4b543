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

INSTANTIATE_TEST_SUITE_P(Versions, MultiscaleDeformableAttention, ::testing::Values("1", "2"));

}  // namespace
}  // namespace kiln::plugins::testing
