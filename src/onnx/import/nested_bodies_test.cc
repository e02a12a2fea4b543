// Bodies in bodies in bodies: what imports a body more than once for each level never ends on these.
#include <gtest/gtest.h>

#include "ir/bodies.h"
#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

constexpr int kDepth = 40;

Proto untyped(const std::string& name) { return Proto().text(field::value_info::kName, name); }
Proto scalar(std::string_view name, int64_t type, int64_t number) {
  const std::string bytes(reinterpret_cast<const char*>(&number), type == kBool ? 1 : sizeof number);
  return tensor(name, type, {}).text(field::tensor::kRawData, bytes);
}

/// What a level puts around the levels within it.
enum class Level {
  kIfOfShapes,   ///< an If by the extent of x, whose branches agree
  kIfOfRanks,    ///< an If by the extent of x, whose branches give values of different ranks
  kIfOfData,     ///< an If by an input of the network
  kCountedLoop,  ///< a Loop of three iterations
  kLoopOfData,   ///< a Loop that goes on while a value that it computes is small
};

struct Nest {
  std::vector<Level> levels;  ///< by depth, repeated
  std::string core = "Neg";   ///< the innermost operator, and that of the branches beside
  std::vector<Proto> initializers{i64s("one", {1}), scalar("zero", kInt64, 0), scalar("three", kInt64, 3)};

  /// Nodes that make "y<depth>" of x.
  std::vector<Proto> nodes(int depth, const std::string& x) {
    const auto named = [&](std::string_view name, int d) { return str(name, d); };
    const std::string y = named("y", depth), inner = named("y", depth - 1);
    if (depth == 0) return {node(core, {x}, {y})};
    const Level level = levels[static_cast<size_t>(depth) % levels.size()];
    if (level == Level::kCountedLoop || level == Level::kLoopOfData) {
      const std::string v = named("v", depth), go = named("go", depth), on = named("on", depth), m = named("m", depth);
      std::vector<Proto> iteration = nodes(depth - 1, v);
      if (level == Level::kLoopOfData) {
        iteration.push_back(node("ReduceMax", {inner}, {m}, "", {int_attribute("keepdims", 0)}));
        iteration.push_back(node("Less", {m, "limit"}, {on}));
      } else {
        iteration.push_back(node("Identity", {go}, {on}));
      }
      const GraphParts body{.nodes = iteration,
                            .inputs = {untyped(named("i", depth)), untyped(go), untyped(v)},
                            .outputs = {untyped(on), untyped(inner)},
                            .initializers = {}};
      return {node("Loop", {"three", "", x}, {y}, "", {graph_attribute("body", graph(body, "body"))})};
    }
    std::string condition = "c";
    std::vector<Proto> result;
    if (level != Level::kIfOfData) {
      const std::string shape = named("s", depth), extent = named("e", depth), most = named("most", depth);
      condition = named("c", depth);
      initializers.push_back(scalar(most, kInt64, depth));
      result = {node("Shape", {x}, {shape}), node("Gather", {shape, "zero"}, {extent}),
                node("Less", {extent, most}, {condition})};
    }
    const std::string z = named("z", depth);
    const Proto other = level == Level::kIfOfRanks ? node("Unsqueeze", {x, "one"}, {z}) : node(core, {x}, {z});
    const auto branch = [&](const std::vector<Proto>& inside, const std::string& output) {
      return graph({inside, {}, {untyped(output)}, {}}, "branch");
    };
    result.push_back(node("If", {condition}, {y}, "",
                          {graph_attribute("then_branch", branch(nodes(depth - 1, x), inner)),
                           graph_attribute("else_branch", branch({other}, z))}));
    return result;
  }
};

Imported import_nest(std::vector<Level> levels, std::string core = "Neg") {
  Nest nest{.levels = std::move(levels), .core = std::move(core)};
  const std::vector<Proto> nodes = nest.nodes(kDepth, "x");
  return import_proto(model(graph({nodes,
                                   {value("x", kFloat, {-1, 3}), value("c", kBool), value("limit", kFloat)},
                                   {untyped(str("y", kDepth))},
                                   nest.initializers})));
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
TEST(NestedBodies, BranchesThatAreAssumedAreImportedOnce) {
  const Imported got = import_nest({Level::kIfOfRanks});
  ASSERT_TRUE(got.status) << text_of(got);
  EXPECT_EQ(num_with_bodies(got.graph), 0);
  EXPECT_EQ(got.report.warnings.size(), kDepth) << "one for each If";
  EXPECT_TRUE(ir::verify(got.graph));
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
