#include "passes/merge_common.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/precision.h"
#include "ops/unary.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

/// How many nodes are left of two that compute the same, where these precisions are set for them.
int num_left(std::optional<DType> a, std::optional<DType> b) {
  ir::Graph graph = *ir::parse("x: f32[2]; a = Unary{kind=exp}(x); b = Unary{kind=exp}(x); return a, b");
  const auto set = [&](size_t output, std::optional<DType> type) {
    if (type) ir::set_precision(graph, graph.value(graph.outputs()[output].value).producer, "layer", {*type});
  };
  set(0, a);
  set(1, b);
  NullLog log;
  PassContext cx{log};
  EXPECT_TRUE(merge_common(graph, cx));
  int count = 0;
  for (int i = 0; i < graph.num_nodes(); ++i) count += graph.alive(static_cast<ir::NodeId>(i));
  return count;
}

TEST(MergeCommon, LayersOfOnePrecisionEachStayApart) {
  EXPECT_EQ(num_left({}, {}), 1);
  EXPECT_EQ(num_left(DType::kF32, {}), 2);
  EXPECT_EQ(num_left(DType::kF32, DType::kF16), 2);
  EXPECT_EQ(num_left(DType::kF16, DType::kF16), 1);
}

}  // namespace
}  // namespace kiln::passes
