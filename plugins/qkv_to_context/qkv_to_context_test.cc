#include <gtest/gtest.h>

#include <cmath>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

constexpr const char* kName = "CustomQKVToContextPluginDynamic";
constexpr int64_t kHeads = 2, kSize = 3, kHidden = kHeads * kSize;

Attributes attributes(int32_t has_mask, int32_t is_packed = 0) {
  return Attributes()
      .set("type_id", std::vector<int32_t>{0})
      .set("hidden_size", std::vector<int32_t>{kHidden})
      .set("num_heads", std::vector<int32_t>{kHeads})
      .set("has_mask", std::vector<int32_t>{has_mask})
      .set("var_seqlen", std::vector<int32_t>{is_packed});
}

/// Attention of the tokens of one sequence, given by their rows in `x` and `y`.
void attend(const Tensor& x, const std::vector<int64_t>& rows, size_t num_keys, Tensor& y) {
  const auto at = [&](int64_t row, int64_t head, int64_t which, int64_t i) {
    return x.values[static_cast<size_t>(((row * kHeads + head) * 3 + which) * kSize + i)];
  };
  for (int64_t head = 0; head < kHeads; ++head)
    for (const int64_t query : rows) {
      std::vector<double> weights;
      double total = 0;
      for (size_t k = 0; k < num_keys; ++k) {
        double score = 0;
        for (int64_t i = 0; i < kSize; ++i) score += at(query, head, 0, i) * at(rows[k], head, 1, i);
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(kSize))));
        total += weights.back();
      }
      for (int64_t i = 0; i < kSize; ++i) {
        double& value = y.values[static_cast<size_t>(query * kHidden + head * kSize + i)];
        value = 0;
        for (size_t k = 0; k < num_keys; ++k) value += weights[k] / total * at(rows[k], head, 2, i);
      }
    }
}

class QkvToContext : public ::testing::TestWithParam<const char*> {};

TEST_P(QkvToContext, AttendsHeadByHead) {
  constexpr int64_t kLength = 5, kBatch = 2;
  const Tensor x = noise({kLength, kBatch, 3 * kHidden, 1, 1}, 1);
  for (const bool has_mask : {false, true}) {
    const Tensor counts = ints({kBatch}, {3, 5});
    Tensor y{{kLength, kBatch, kHidden, 1, 1}, std::vector<double>(kLength * kBatch * kHidden)};
    for (int64_t b = 0; b < kBatch; ++b) {
      std::vector<int64_t> rows;
      for (int64_t s = 0; s < kLength; ++s) rows.push_back(s * kBatch + b);
      attend(x, rows, has_mask ? static_cast<size_t>(counts.values[static_cast<size_t>(b)]) : rows.size(), y);
    }
    std::vector<Tensor> inputs = {x};
    if (has_mask) inputs.push_back(counts);
    expect_outputs(kName, GetParam(), attributes(has_mask), inputs, {y});
    expect_outputs(kName, GetParam(), attributes(has_mask), in_halves(inputs), {in_halves(y)}, kHalfTolerance);
  }
}

TEST_P(QkvToContext, RefusesWhatDoesNotFit) {
  const Tensor x = noise({4, 1, 12, 1, 1}, 1);
  EXPECT_NE(error_of(kName, GetParam(), attributes(0), {x}).find("12 units; hidden_size says 3 times 6"),
            std::string::npos);
  EXPECT_NE(error_of(kName, GetParam(), attributes(1), {x}).find("there are 1 inputs"), std::string::npos);
}

class PackedQkv : public ::testing::TestWithParam<const char*> {};

TEST_P(PackedQkv, AttendsWithinEachSequence) {
  const std::vector<int64_t> starts = {0, 2, 3, 7};
  const Tensor x = noise({7, 3 * kHidden, 1, 1}, 2);
  Tensor y{{7, kHidden, 1, 1}, std::vector<double>(7 * kHidden)};
  for (size_t s = 0; s + 1 < starts.size(); ++s) {
    std::vector<int64_t> rows;
    for (int64_t row = starts[s]; row < starts[s + 1]; ++row) rows.push_back(row);
    attend(x, rows, rows.size(), y);
  }
  expect_outputs(kName, GetParam(), attributes(1, 1),
                 {x, noise({7}, 3), ints({4}, {0, 2, 3, 7}), ints({4}, {0, 0, 0, 0})}, {y});
}

INSTANTIATE_TEST_SUITE_P(Versions, QkvToContext, ::testing::Values("1", "2", "4", "5"));
INSTANTIATE_TEST_SUITE_P(Versions, PackedQkv, ::testing::Values("2", "5"));

}  // namespace
}  // namespace kiln::plugins::testing
