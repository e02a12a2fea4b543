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

/// Attention of the tokens of one sequence, given by their rows in `x` and `y`. Probabilities are multiples of `step`,
/// if there is one.
void attend(const Tensor& x, const std::vector<int64_t>& rows, size_t num_keys, Tensor& y, double step = 0) {
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
        for (size_t k = 0; k < num_keys; ++k) {
          const double p = weights[k] / total;
          value += (step > 0 ? std::nearbyint(p / step) * step : p) * at(rows[k], head, 2, i);
        }
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
  EXPECT_NE(error_of(kName, GetParam(), attributes(0), {x}).find("has to be 18 long, 3 times hidden_size; it is 12"),
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

TEST_P(QkvToContext, OfBytesRoundsProbabilitiesToo) {
  constexpr int64_t kLength = 5, kBatch = 2;
  const Tensor x = within(noise({kLength, kBatch, 3 * kHidden, 1, 1}, 1), 0.9F);
  Tensor y{{kLength, kBatch, kHidden, 1, 1}, std::vector<double>(kLength * kBatch * kHidden)};
  for (int64_t b = 0; b < kBatch; ++b) {
    std::vector<int64_t> rows;
    for (int64_t s = 0; s < kLength; ++s) rows.push_back(s * kBatch + b);
    attend(in_bytes(x), rows, rows.size(), y, 0.01F);
  }
  Attributes fields = attributes(0);
  expect_outputs(kName, GetParam(), fields.set("type_id", std::vector<int32_t>{2}).set("dq_probs", std::vector{0.01F}),
                 {x}, {in_bytes(within(y, 0.5F))});
}

/// Packed sequences with steps of bytes, if they are not 0.
struct PackedCase {
  Tensor x, y;  ///< [T, 3 E, 1, 1] and [T, E, 1, 1]
};
const Tensor kStarts = ints({4}, {0, 2, 3, 7}), kLongest = ints({4}, {0, 0, 0, 0});
PackedCase packed_case(float x_range, float y_range, double step) {
  PackedCase made{within(noise({7, 3 * kHidden, 1, 1}, 2), x_range),
                  {{7, kHidden, 1, 1}, std::vector<double>(7 * kHidden)}};
  for (size_t s = 0; s + 1 < kStarts.values.size(); ++s) {
    std::vector<int64_t> rows;
    for (auto row = static_cast<int64_t>(kStarts.values[s]); row < static_cast<int64_t>(kStarts.values[s + 1]); ++row)
      rows.push_back(row);
    attend(x_range > 0 ? in_bytes(made.x) : made.x, rows, rows.size(), made.y, step);
  }
  if (y_range > 0) made.y = in_bytes(within(made.y, y_range));
  return made;
}

TEST_P(PackedQkv, OfBytesRoundsProbabilitiesToo) {
  const PackedCase one = packed_case(0.9F, 0.5F, 1.0 / 127);
  Attributes fields = attributes(1, 1);
  expect_outputs(kName, GetParam(), fields.set("type_id", std::vector<int32_t>{2}),
                 {one.x, noise({7}, 3), kStarts, kLongest}, {one.y});
}

INSTANTIATE_TEST_SUITE_P(Versions, QkvToContext, ::testing::Values("1", "2", "4", "5"));
INSTANTIATE_TEST_SUITE_P(Versions, PackedQkv, ::testing::Values("2", "5"));

class QkvByChannels : public ::testing::TestWithParam<const char*> {
 protected:
  static Attributes fields() {
    return Attributes()
        .set("hidden_size", std::vector<int32_t>{kHidden})
        .set("num_heads", std::vector<int32_t>{kHeads});
  }
  /// [T, N, m, H] as [1, m N H, T, 1], m N H by m first.
  static Tensor by_channels(const Tensor& tokens, size_t count) {
    const auto length = static_cast<size_t>(tokens.extents[0]);
    Tensor result{{1, tokens.extents[1], tokens.extents[0], 1}, std::vector<double>(tokens.values.size())};
    result.range = tokens.range;
    for (size_t t = 0; t < length; ++t)
      for (size_t head = 0; head < kHeads; ++head)
        for (size_t which = 0; which < count; ++which)
          for (size_t i = 0; i < kSize; ++i)
            result.values[((which * kHeads + head) * kSize + i) * length + t] =
                tokens.values[((t * kHeads + head) * count + which) * kSize + i];
    return result;
  }
};

TEST_P(QkvByChannels, AttendsInBytes) {
  const PackedCase one = packed_case(0.9F, 0.5F, 0.02F);
  expect_outputs(kName, GetParam(), fields().set("dq_probs", std::vector{0.02F}),
                 {by_channels(one.x, 3), kStarts, kLongest}, {by_channels(one.y, 1)});
}

TEST_P(QkvByChannels, AttendsInFloatsWithoutRanges) {
  const PackedCase one = packed_case(0, 0, 0);
  expect_outputs(kName, GetParam(), fields(), {by_channels(one.x, 3), kStarts, kLongest}, {by_channels(one.y, 1)});
}

/// By hand: a token attends to itself alone with p = 1, which is 3 steps of 0.3, 0.9. Its value is 10 steps of 0.5:
/// y is 4.5, 18 steps of 0.25.
TEST_P(QkvByChannels, KnowsScalesOfItsOwn) {
  Tensor x{{1, 3, 2, 1}, {1, -1, 2, 2, 10, -4}, nv::DataType::kINT8};
  const Tensor y{{1, 1, 2, 1}, {18, -7}, nv::DataType::kINT8};  // -4 are -2, y is -1.8, -7.2 steps
  const Attributes own = Attributes()
                             .set("hidden_size", std::vector<int32_t>{1})
                             .set("num_heads", std::vector<int32_t>{1})
                             .set("dq_probs", std::vector{0.3F})
                             .set("use_explicit_int8", std::vector<int32_t>{1})
                             .set("input_qkv_scale", std::vector{0.5F})
                             .set("output_ctx_scale", std::vector{0.25F});
  expect_outputs(kName, GetParam(), own, {x, ints({3}, {0, 1, 2}), ints({1}, {0})}, {y});
}

TEST_P(QkvByChannels, RefusesWhatDoesNotFit) {
  const Tensor x = noise({1, 12, 4, 1}, 1), starts = ints({2}, {0, 4}), longest = ints({4}, {0, 0, 0, 0});
  EXPECT_NE(error_of(kName, GetParam(), fields(), {x, starts, longest})
                .find("has to be 18 long, 3 times hidden_size; it is 12"),
            std::string::npos);
  EXPECT_NE(error_of(kName, GetParam(), fields().set("dq_probs", std::vector{0.0F}), {x, starts, longest})
                .find("dq_probs is 0; a number above 0 is needed"),
            std::string::npos);
}

TEST_P(QkvByChannels, StartsOfConstantsBeginWithZeroAndRise) {
  const auto error = [&](const Tensor& starts) {
    return error_of(kName, GetParam(), fields(), {noise({1, 3 * kHidden, 4, 1}, 1), starts, ints({1}, {0})});
  };
  EXPECT_EQ(error(as_constant(ints({3}, {0, 2, 4}))), "");
  for (const auto& [starts, words] :
       {std::pair{as_constant(ints({2}, {1, 4})), "the starts of sequences begin with 1"},
        std::pair{as_constant(ints({3}, {0, -1, 4})), "start 1 of the sequences is -1, and the one before it 0"},
        std::pair{as_constant(ints({2}, {0, 9})), "the last sequence has to end within the tokens; 9 is more than 4"},
        std::pair{ints({1, 2}, {0, 4}), "input 1 has rank 2; 1 is needed"}}) {
    const std::string text = error(starts);
    EXPECT_NE(text.find(words), std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, QkvByChannels, ::testing::Values("3", "6"));

}  // namespace
}  // namespace kiln::plugins::testing
