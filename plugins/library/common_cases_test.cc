// Cases within what TensorRT's own plugins take, too, so that KILN_TEST_PLUGINS compares them: all fields are given,
// types and extents are those that its kernels are made for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {
namespace {

constexpr Way kByNetwork[] = {Way::kLayers, Way::kDynamicLayers, Way::kEnqueue};

class CommonScatterElements : public ::testing::TestWithParam<const char*> {};

/// Indices of 64 bits, none below 0.
TEST_P(CommonScatterElements, OfEitherAxis) {
  const Tensor data = noise({3, 4}, 1);
  const Tensor rows{{2, 4}, {0, 2, 1, 1, 0, 2, 1, 0}, nv::DataType::kINT64}, row_updates = noise({2, 4}, 2);
  const Tensor columns{{3, 2}, {0, 3, 1, 1, 2, 0}, nv::DataType::kINT64}, column_updates = noise({3, 2}, 3);
  for (const int32_t axis : {0, 1}) {
    const Tensor& indices = axis == 0 ? rows : columns;
    const Tensor& updates = axis == 0 ? row_updates : column_updates;
    const auto width = static_cast<size_t>(indices.extents[1]);
    for (const bool adds : {true, false}) {
      Tensor y = data;
      for (size_t i = 0; i < indices.values.size(); ++i) {
        const auto index = static_cast<size_t>(indices.values[i]);
        double& value = y.values[axis == 0 ? index * 4 + i % width : i / width * 4 + index];
        value = adds ? value + updates.values[i] : std::max(value, updates.values[i]);
      }
      expect_outputs("ScatterElements", GetParam(),
                     Attributes().set("reduction", std::string(adds ? "add" : "max")).set("axis", std::vector{axis}),
                     {data, indices, updates}, {y}, 1e-5, kByNetwork);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Versions, CommonScatterElements, ::testing::Values("1", "2"));

struct PackedHalves {
  const char* version;
  int64_t head_size;
};
class CommonPackedQkv : public ::testing::TestWithParam<PackedHalves> {};

/// Sequences of 2, 1 and 4 tokens, packed.
TEST_P(CommonPackedQkv, OfHalves) {
  constexpr int64_t kHeads = 2, kTokens = 7, kLongest = 4;
  const std::vector<double> starts = {0, 2, 3, kTokens};
  const int64_t size = GetParam().head_size, hidden = kHeads * size;
  Tensor x = in_halves(noise({kTokens, 3 * hidden, 1, 1}, 2));
  x.known_axes = 3;
  Tensor y{{kTokens, hidden, 1, 1}, std::vector<double>(static_cast<size_t>(kTokens * hidden))};
  const auto at = [&](int64_t token, int64_t head, int64_t which, int64_t i) {
    return x.values[static_cast<size_t>(((token * kHeads + head) * 3 + which) * size + i)];
  };
  for (size_t s = 0; s + 1 < starts.size(); ++s)
    for (auto query = static_cast<int64_t>(starts[s]); query < static_cast<int64_t>(starts[s + 1]); ++query)
      for (int64_t head = 0; head < kHeads; ++head) {
        std::vector<double> sums(static_cast<size_t>(size));
        double total = 0;
        for (auto key = static_cast<int64_t>(starts[s]); key < static_cast<int64_t>(starts[s + 1]); ++key) {
          double score = 0;
          for (int64_t i = 0; i < size; ++i) score += at(query, head, 0, i) * at(key, head, 1, i);
          const double weight = std::exp(score / std::sqrt(static_cast<double>(size)));
          total += weight;
          for (int64_t i = 0; i < size; ++i) sums[static_cast<size_t>(i)] += weight * at(key, head, 2, i);
        }
        for (int64_t i = 0; i < size; ++i)
          y.values[static_cast<size_t>((query * kHeads + head) * size + i)] = sums[static_cast<size_t>(i)] / total;
      }
  const Attributes fields = Attributes()
                                .set("type_id", std::vector<int32_t>{1})
                                .set("hidden_size", std::vector{static_cast<int32_t>(hidden)})
                                .set("num_heads", std::vector<int32_t>{kHeads})
                                .set("has_mask", std::vector<int32_t>{1})
                                .set("var_seqlen", std::vector<int32_t>{1});
  expect_outputs("CustomQKVToContextPluginDynamic", GetParam().version, fields,
                 {x, noise({kTokens}, 3), ints({4}, starts), ints({kLongest}, {0, 0, 0, 0})}, {in_halves(y)},
                 2 * kHalfTolerance, kByNetwork);
}
INSTANTIATE_TEST_SUITE_P(Versions, CommonPackedQkv,
                         ::testing::Values(PackedHalves{"2", 64}, PackedHalves{"2", 32}, PackedHalves{"5", 64},
                                           PackedHalves{"5", 32}),
                         [](const auto& info) {
                           return str("V", info.param.version, "HeadsOf", info.param.head_size);
                         });

}  // namespace
}  // namespace kiln::plugins::testing
