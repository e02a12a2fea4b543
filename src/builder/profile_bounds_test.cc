#include "builder/profile_bounds.h"

#include <gtest/gtest.h>

#include "builder/specialize.h"
#include "ops/element_wise.h"

namespace kiln {
namespace {

using Range = std::array<int64_t, 3>;  // minimum, optimum, maximum

/// y = a[p, 4] + b[q, 4]
struct Sum {
  Sum() {
    p = graph.table().symbol("p");
    q = graph.table().symbol("q");
    const auto input = [&](const char* name, sym::Expr rows) {
      return graph.add_input(name, TensorType(DType::kF32, {rows, sym::Expr(4)}));
    };
    const ir::ValueId a = input("a", p), b = input("b", q);
    const auto y = graph.add_one(ops::ElementWise{ops::ElementWiseKind::kSum}, {a, b}, "add");
    CHECK(y.has_value());
    graph.mark_output(*y, "y");
  }
  Result<ir::Graph> under(const Range& of_p, const Range& of_q) const {
    ProfileRequest profile;
    profile.extents["a"] = {{of_p[0], 4}, {of_p[1], 4}, {of_p[2], 4}};
    profile.extents["b"] = {{of_q[0], 4}, {of_q[1], 4}, {of_q[2], 4}};
    return TRY(specialize(graph, profile)).graph;
  }
  ir::Graph graph;
  sym::Expr p, q;
};

std::string types(const Result<ir::Graph>& graph) {
  if (!graph) return graph.error().message;
  std::string text;
  for (const ir::ValueId input : graph->inputs()) text += str(graph->type(input), ' ');
  return text + str(graph->type(graph->outputs()[0].value));
}

TEST(ProfileBounds, TwoNamesOfOneExtentBecomeOne) {
  EXPECT_EQ(types(Sum().under({2, 4, 8}, {2, 3, 16})), "f32[p, 4] f32[p, 4] f32[p, 4]");
  const auto graph = Sum().under({2, 4, 8}, {3, 3, 16});
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->shared_table()->bounds(graph->shared_table()->symbols()[0]), (sym::Bounds{3, 4, 8}));
  EXPECT_TRUE(graph->assumptions().empty());
  EXPECT_EQ(Sum().graph.assumptions().size(), 1u);  // the network's, which contexts check
}
TEST(ProfileBounds, WhatMustBeAConstantBecomesIt) {
  EXPECT_EQ(types(Sum().under({2, 4, 8}, {3, 3, 3})), "f32[3, 4] f32[3, 4] f32[3, 4]");
}
TEST(ProfileBounds, ALongChainOfExtentsBecomesOne) {
  ir::Graph graph;
  ProfileRequest profile;
  ir::ValueId sum = ir::ValueId::kNone;
  for (int i = 0; i < 6; ++i) {
    const std::string name = str('x', i);
    const ir::ValueId x = graph.add_input(name, TensorType(DType::kF32, {graph.table().symbol(str('n', i))}));
    profile.extents[name] = i == 4 ? plan::InputRange{{7}, {7}, {8}} : plan::InputRange{{2}, {5}, {9}};
    if (i > 0) {
      const auto y = graph.add_one(ops::ElementWise{ops::ElementWiseKind::kSum}, {sum, x}, str("add", i));
      ASSERT_TRUE(y.has_value());
      sum = *y;
    } else {
      sum = x;
    }
  }
  graph.mark_output(sum, "y");
  const auto narrow = specialize(graph, profile);
  ASSERT_TRUE(narrow) << narrow.error().message;
  EXPECT_EQ(str(narrow->graph.type(narrow->graph.outputs()[0].value)), "f32[n0]");
  const sym::Table& table = *narrow->graph.shared_table();
  EXPECT_EQ(table.bounds(table.symbols()[0]), (sym::Bounds{7, 7, 8}));
}
TEST(ProfileBounds, WhatMayBeOneStaysApart) {
  EXPECT_EQ(types(Sum().under({1, 4, 8}, {1, 4, 8})), "f32[p, 4] f32[q, 4] f32[max(p, q), 4]");
  EXPECT_EQ(types(Sum().under({1, 4, 8}, {2, 4, 8})), "f32[p, 4] f32[q, 4] f32[q, 4]");
  EXPECT_EQ(types(Sum().under({1, 4, 8}, {5, 5, 5})), "f32[p, 4] f32[5, 4] f32[5, 4]");
  EXPECT_EQ(types(Sum().under({0, 4, 8}, {1, 4, 8})), "f32[p, 4] f32[q, 4] f32[max(p, q)*min(p, 1), 4]");
}
TEST(ProfileBounds, WhatCannotBeIsSaid) {
  const std::string text = types(Sum().under({2, 4, 8}, {9, 9, 16}));
  EXPECT_NE(text.find("ElementWise 'add': "), std::string::npos) << text;
  EXPECT_NE(text.find("p and q differ"), std::string::npos) << text;
}

std::pair<int64_t, int64_t> optimum(const Range& of_p, const Range& of_q) {
  const auto graph = Sum().under(of_p, of_q);
  if (!graph) return {-1, -1};
  const auto symbols = graph->shared_table()->symbols();
  return {symbols[0].opt(), symbols[1].opt()};
}
TEST(ProfileBounds, OptimaThatDoNotBroadcastAreMoved) {
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(optimum({1, 4, 8}, {1, 4, 8}), (Pair{4, 4}));
  EXPECT_EQ(optimum({1, 1, 8}, {1, 4, 8}), (Pair{1, 4}));
  EXPECT_EQ(optimum({1, 4, 8}, {1, 6, 8}), (Pair{6, 6}));
  EXPECT_EQ(optimum({1, 4, 4}, {1, 6, 8}), (Pair{4, 4}));
  EXPECT_EQ(optimum({1, 2, 3}, {5, 6, 8}), (Pair{1, 6}));
}

}  // namespace
}  // namespace kiln
