// Bodies in bodies in bodies: what imports a body more than once for each level never ends on these.
#include <gtest/gtest.h>

#include "ir/bodies.h"
#include "onnx/test_import.h"
#include "onnx/test_nest.h"

namespace kiln::onnx {
namespace {

using namespace test;

constexpr int kDepth = 40;

Imported import_nest(std::vector<Level> levels, std::string core = "Neg") {
  return import_proto(nested_model(kDepth, {.levels = std::move(levels), .core = std::move(core)}));
}

/// How many nodes with bodies there are, at all depths.
int num_with_bodies(const ir::Graph& graph) {
  int count = 0;
  const auto add = [&](const ir::Graph& of) {
    for (int i = 0; i < of.num_nodes(); ++i)
      if (const auto id = static_cast<ir::NodeId>(i); of.alive(id)) count += !of.node(id).bodies.empty();
  };
  add(graph);
  ir::for_each_body(graph, add);
  return count;
}

TEST(NestedBodies, AreImportedOnce) {
  using enum Level;
  const std::vector<Level> all_kinds[] = {
      {kIfOfShapes}, {kIfOfData}, {kCountedLoop}, {kLoopOfData}, {kIfOfShapes, kCountedLoop, kIfOfData, kLoopOfData}};
  for (const std::vector<Level>& levels : all_kinds) {
    const Imported got = import_nest(levels);
    ASSERT_TRUE(got.status) << text_of(got);
    EXPECT_EQ(num_with_bodies(got.graph), kDepth);
    EXPECT_EQ(str(got.graph.type(got.graph.outputs()[0].value)), "f32[x_0, 3]");
    EXPECT_TRUE(ir::verify(got.graph));
  }
}
TEST(NestedBodies, LoopsThatChangeExtentsAreSettledInTimeThatGrowsWithTheirDepth) {
  using enum Level;
  const std::vector<Level> all_kinds[] = {
      {kGrowingLoop}, {kCuttingLoop}, {kIfOfShapes, kGrowingLoop, kLoopOfData, kCuttingLoop, kIfOfData}};
  for (const std::vector<Level>& levels : all_kinds) {
    const Imported got = import_nest(levels);
    ASSERT_TRUE(got.status) << text_of(got);
    EXPECT_EQ(num_with_bodies(got.graph), kDepth);
    EXPECT_TRUE(str(got.graph.type(got.graph.outputs()[0].value)).starts_with("f32[\"extent of "));
    EXPECT_TRUE(ir::verify(got.graph));
  }
}
TEST(NestedBodies, BranchesThatAreAssumedAreImportedOnce) {
  const Imported got = import_nest({Level::kIfOfRanks});
  ASSERT_TRUE(got.status) << text_of(got);
  EXPECT_EQ(num_with_bodies(got.graph), 0);
  EXPECT_EQ(got.report.warnings.size(), kDepth) << "one for each If";
  EXPECT_TRUE(ir::verify(got.graph));
}
TEST(NestedBodies, WarningsOfWhatIsInsideBodiesAreGivenOnce) {
  for (const Level around : {Level::kIfOfData, Level::kCountedLoop, Level::kGrowingLoop}) {
    const Imported got = import_nest({Level::kIfOfRanks, around});
    ASSERT_TRUE(got.status) << text_of(got);
    EXPECT_EQ(num_with_bodies(got.graph), kDepth / 2);
    EXPECT_EQ(got.report.warnings.size(), kDepth / 2) << "one for each If of ranks";
  }
}
TEST(NestedBodies, ProblemsAreFoundOnce) {
  for (const Level level : {Level::kIfOfShapes, Level::kIfOfData, Level::kLoopOfData}) {
    const Imported got = import_nest({level}, "Unheard");
    EXPECT_FALSE(got.status);
    EXPECT_NE(text_of(got).find("Kiln has no importer for operator Unheard"), std::string::npos) << text_of(got);
  }
}

}  // namespace
}  // namespace kiln::onnx
