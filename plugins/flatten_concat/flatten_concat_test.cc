#include <gtest/gtest.h>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

Attributes along(int32_t axis) { return Attributes().set("axis", std::vector<int32_t>{axis}); }

TEST(FlattenConcat, PutsRowsBehindEachOther) {
  const Tensor a = noise({2, 2, 3, 2}, 1), b = noise({2, 4, 1, 1}, 2);
  for (const int32_t axis : {1, 2, 3}) {
    Tensor y{{2, 1, 1, 1}, {}};
    y.extents[static_cast<size_t>(axis)] = 16;
    for (int n = 0; n < 2; ++n) {
      y.values.insert(y.values.end(), a.values.begin() + 12 * n, a.values.begin() + 12 * (n + 1));
      y.values.insert(y.values.end(), b.values.begin() + 4 * n, b.values.begin() + 4 * (n + 1));
    }
    expect_outputs("FlattenConcat_TRT", "1", along(axis), {a, b}, {y});
    expect_outputs("FlattenConcat_TRT", "1", along(axis), in_halves({a, b}), {in_halves(y)});
  }
}

TEST(FlattenConcat, RefusesWhatItDoesNotHave) {
  const Tensor x = noise({2, 2, 3, 2}, 1);
  EXPECT_NE(error_of("FlattenConcat_TRT", "1", along(0), {x}).find("axis is 0"), std::string::npos);
  EXPECT_NE(error_of("FlattenConcat_TRT", "1", along(1).set("ignoreBatch", std::vector<int32_t>{1}), {x})
                .find("ignoreBatch is set"),
            std::string::npos);
  EXPECT_NE(error_of("FlattenConcat_TRT", "1", along(1), {}).find("there are 0 inputs; it takes 1 or more"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::plugins::testing
