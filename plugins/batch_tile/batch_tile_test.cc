#include <gtest/gtest.h>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

TEST(BatchTile, RepeatsTheSample) {
  const Tensor batch = noise({3, 2}, 1), sample = noise({1, 2, 3, 2}, 2);
  Tensor y{{3, 2, 3, 2}, {}};
  for (int n = 0; n < 3; ++n) y.values.insert(y.values.end(), sample.values.begin(), sample.values.end());
  expect_outputs("BatchTilePlugin_TRT", "1", {}, {batch, sample}, {y});
  expect_outputs("BatchTilePlugin_TRT", "1", {}, in_halves({batch, sample}), {in_halves(y)});
}

TEST(BatchTile, RefusesSeveralSamples) {
  EXPECT_NE(error_of("BatchTilePlugin_TRT", "1", {}, {noise({3, 2}, 1), noise({2, 2, 3, 2}, 2)})
                .find("axis 0 of input 1 has to be 1 long, for one sample; it is 2"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
