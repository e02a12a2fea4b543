#include "tactics/attention.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "steps/attention_layout.h"
#include "tactics/testing/fake_backend.h"

namespace kiln {
namespace {

/// How the step of a decoder's layer finds its keys: `before` in a cache, one more in the projections, each head of
/// keys for as many of queries. The reason where it is refused.
std::string joined_keys_of(int64_t batch, int64_t kv_heads, int64_t each, int64_t before) {
  const int64_t depth = 8, heads = kv_heads * each;
  const auto part = [&](std::string_view name, int64_t first, int64_t count) {
    return str(name, "s = Slice{starts=[", first * depth, "], sizes=[", count * depth, "], axes=[2]}(all); ", name,
               "r = Reshape{dims=[", batch, ", 1, ", count, ", ", depth, "]}(", name, "s); ", name,
               " = Transpose{perm=[0, 2, 1, 3]}(", name, "r); ");
  };
  const auto joined = [&](std::string_view name, int64_t first) {
    return str(part(str("new_", name), first, kv_heads), name, "c = Concatenation{axis=2}(cache_", name, ", new_", name,
               "); ", name, "5 = Reshape{dims=[", batch, ", ", kv_heads, ", 1, ", before + 1, ", ", depth, "]}(", name,
               "c); ", name, "e = Expand{dims=[", batch, ", ", kv_heads, ", ", each, ", ", before + 1, ", ", depth,
               "]}(", name, "5); ", name, " = Reshape{dims=[", batch, ", ", heads, ", ", before + 1, ", ", depth, "]}(",
               name, "e); ");
  };
  const std::string cache = str("f16[", batch, ", ", kv_heads, ", ", before, ", ", depth, "]");
  const auto graph = ir::parse(
      str("all: f16[", batch, ", 1, ", (heads + 2 * kv_heads) * depth, "]; cache_k: ", cache, "; cache_v: ", cache,
          "; ", part("q", 0, heads), joined("k", heads), joined("v", heads + kv_heads),
          "d = MatrixMultiply{b=transpose}(q, k); p = Softmax{axis=3}(d); y = MatrixMultiply(p, v); return y"));
  if (!graph) return graph.error().message;
  testing::FakeBackend backend;
  const Numerics numerics;
  constexpr DType kTypes[] = {DType::kF16};
  const Match region =
      attention_region({*graph, numerics, backend.device()}, graph->value(graph->outputs()[0].value).producer,
                       {.types = kTypes, .joined_keys = true});
  if (!region) return region.error().reason;
  std::vector<int64_t> params;
  for (const sym::Expr& param : region->params) params.push_back(param.opt());
  const AttentionLayout layout = AttentionLayout::of(params);
  return str(layout.first_keys, " of ", layout.keys, " keys, ", region->inputs.size(), " inputs");
}

TEST(JoinedKeys, AreACacheAndNewOnes) {
  EXPECT_EQ(joined_keys_of(2, 2, 3, 9), "9 of 10 keys, 6 inputs");
  EXPECT_EQ(joined_keys_of(2, 3, 1, 9), "9 of 10 keys, 6 inputs");
}
TEST(JoinedKeys, MayBeOfOneSequenceAndOfOneHead) {
  EXPECT_EQ(joined_keys_of(1, 2, 3, 9), "9 of 10 keys, 6 inputs");
  EXPECT_EQ(joined_keys_of(1, 3, 1, 9), "9 of 10 keys, 6 inputs");
  EXPECT_EQ(joined_keys_of(1, 1, 4, 9), "9 of 10 keys, 6 inputs");
  EXPECT_EQ(joined_keys_of(2, 1, 1, 9), "9 of 10 keys, 6 inputs");
}

}  // namespace
}  // namespace kiln
