#include "passes/keep_large.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/precision.h"

namespace kiln::passes {
namespace {

std::optional<DType> precision_of(const ir::Graph& graph, std::string_view value) {
  for (int i = 0; i < graph.num_values(); ++i)
    if (const ir::Value& v = graph.value(static_cast<ir::ValueId>(i)); v.name == value)
      return ir::float_precision_of(graph.node(v.producer));
  return std::nullopt;
}

TEST(KeepLarge, KeepsWhatMakesAndReadsLargeNumbers) {
  auto graph = ir::parse(
      "x: f32[4, 4]; w: f32[4, 4]; a = MatrixMultiply(x, w); b = MatrixMultiply(a, w); t = Transpose{perm=[1, 0]}(b); "
      "c = MatrixMultiply(t, w); d = MatrixMultiply(c, w); e = MatrixMultiply(d, w); return e");
  ASSERT_TRUE(graph) << graph.error().message;
  for (int i = 0; i < graph->num_nodes(); ++i)
    if (const auto id = static_cast<ir::NodeId>(i); graph->value(graph->node(id).outputs[0]).name == "d")
      ir::set_precision(*graph, id, "d", {DType::kF16});
  const auto told = keep_large(*graph, {{"a", 65504.0F}, {"b", 70000.0F}, {"d", 1e6F}});
  ASSERT_TRUE(told);
  EXPECT_EQ(precision_of(*graph, "a"), std::nullopt);  // halves have that
  EXPECT_EQ(precision_of(*graph, "b"), DType::kF32);
  EXPECT_EQ(precision_of(*graph, "t"), DType::kF32);
  EXPECT_EQ(precision_of(*graph, "c"), DType::kF32) << "reads b, moved";
  EXPECT_EQ(precision_of(*graph, "d"), DType::kF16) << "the program said so";
  EXPECT_EQ(precision_of(*graph, "e"), DType::kF32);
  ASSERT_EQ(told->kept.size(), 4U);
  EXPECT_TRUE(told->kept[0].contains("stays in FP32: tensor 'b' reaches 70000, beyond FP16's 65504")) << told->kept[0];
  ASSERT_EQ(told->forced.size(), 1U);
  EXPECT_TRUE(told->forced[0].contains("is in FP16, as the network or the layer's precision says: tensor 'd' reaches "))
      << told->forced[0];
  const auto nothing = keep_large(*graph, {});
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->kept.empty() && nothing->forced.empty());
}

/// The program rounds a tensor to halves, by a cast or by its output's type.
TEST(KeepLarge, TellsOfCastsToHalves) {
  auto graph = ir::parse("x: f32[4]; h = Cast{to=f16}(x); y = Cast{to=f32}(h); return y");
  ASSERT_TRUE(graph) << graph.error().message;
  const auto told = keep_large(*graph, {{"x", 70000.0F}});
  ASSERT_TRUE(told);
  EXPECT_TRUE(told->kept.empty());
  ASSERT_EQ(told->forced.size(), 1U);
  EXPECT_TRUE(told->forced[0].contains("tensor 'x' reaches 70000")) << told->forced[0];
}

/// Data tell that masks are large, and so are masked scores.
TEST(KeepLarge, LeavesScoresAlone) {
  auto graph = ir::parse(
      "x: f32[4, 4]; m: f32[4, 4]; w: f32[4, 4]; s = MatrixMultiply(x, w); a = ElementWise{kind=sum}(s, m); "
      "p = Softmax{axis=1}(a); y = MatrixMultiply(p, w); return y");
  ASSERT_TRUE(graph) << graph.error().message;
  const auto told = keep_large(*graph, {{"m", 3e38F}, {"a", 3e38F}});
  ASSERT_TRUE(told);
  for (const char* value : {"s", "a", "p", "y"}) EXPECT_EQ(precision_of(*graph, value), std::nullopt) << value;
  EXPECT_TRUE(told->kept.empty());
}

}  // namespace
}  // namespace kiln::passes
