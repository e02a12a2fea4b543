// What runs of ONNX's loops read, keep and refuse.
#include <gtest/gtest.h>

#include "api/onnx/bodies_program.h"
#include "plan/reader.h"
#include "plan/writer.h"

namespace kiln::api {
namespace {

using namespace bodies;

Proto sum_of(std::string_view x, std::string_view y) {
  return node("ReduceSum", {x}, {y}, "", {int_attribute("keepdims", 0)});
}
Proto list(std::string_view name, std::initializer_list<int64_t> numbers) { return i64s(name, numbers); }

/// A condition that data gives before the first iteration, whether the body hands it on or computes another one.
TEST(LoopRuns, AConditionThatIsFalseAtFirst) {
  for (const bool is_computed : {false, true}) {
    const Proto on = is_computed ? node("Greater", {"limit", "s"}, {"on"}) : kOn;
    const Proto body = loop_body({node("Add", {"v", "v"}, {"v1"}), sum_of("v1", "s"), on}, {"v"}, {"on", "v1", "s"});
    Program p(model(graph({{loop_node({"m", "c", "x"}, {"y", "sums"}, body)},
                           {value("x", kFloat, {2}), value("c", kBool), value("limit", kFloat)},
                           {value("y", kFloat, {2}), value("sums", kFloat, {-1})},
                           {scalar("m", 3)}})));
    p.feed("x", {2}, Floats{1, 2}).feed("limit", {}, Floats{1000});
    for (const bool begins : {true, false, true}) {
      p.feed_flag("c", begins);
      EXPECT_EQ(p.run(), "");
      EXPECT_EQ(p.of<float>("y"), begins ? (Floats{8, 16}) : (Floats{1, 2})) << is_computed;
      EXPECT_EQ(p.of<float>("sums"), begins ? (Floats{6, 12, 24}) : Floats{}) << is_computed;
    }
  }
}

/// The elements of x above i, and three numbers: an iteration that finds other than three elements fails.
TEST(LoopRuns, SizesOfIterationsKeepWhatIsAssumedOfThem) {
  const Proto body = loop_body(
      {kOn, node("Cast", {"i"}, {"fi"}, "", {int_attribute("to", kFloat)}), node("Greater", {"x", "fi"}, {"above"}),
       node("Compress", {"x", "above"}, {"found"}, "", {int_attribute("axis", 0)}),
       node("Add", {"found", "w"}, {"both"}, "adds"), sum_of("both", "s"), node("Add", {"v", "s"}, {"v1"})},
      {"v"}, {"on", "v1"});
  Program p(model(graph({{loop_node({"two", "", "start"}, {"y"}, body)},
                         {value("x", kFloat, {5})},
                         {value("y", kFloat, {})},
                         {scalar("two", 2), floats("start", {}, {0}), floats("w", {3}, {1, 2, 3})}})));
  p.feed("x", {5}, Floats{2, 0, 3, 0, 4});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), Floats{30});
  p.feed("x", {5}, Floats{2, 0, 3, 0, 1});
  const std::string error = p.run();
  EXPECT_NE(error.find("iteration 1: "), std::string::npos) << error;
  EXPECT_NE(error.find("(ElementWise 'adds': "), std::string::npos) << error;
  EXPECT_NE(error.find("does not hold: the left side is 2, the right side 3"), std::string::npos) << error;
}

/// The elements above zero of each row, one behind the other, and the rows' sums.
TEST(LoopRuns, MapsOfRowsWhoseResultsDifferInLength) {
  GraphParts each{
      .nodes = {node("Greater", {"row", "none"}, {"above"}),
                node("Compress", {"row", "above"}, {"found"}, "", {int_attribute("axis", 0)}), sum_of("row", "sum")},
      .inputs = {value_of_any("row")},
      .outputs = {value_of_any("found"), value_of_any("sum")}};
  const auto concat = [](std::string_view sequence, std::string_view y, int64_t new_axis) {
    return node("ConcatFromSequence", {sequence}, {y}, "",
                {int_attribute("axis", 0), int_attribute("new_axis", new_axis)});
  };
  Program p(
      model(graph({{node("SplitToSequence", {"x"}, {"rows"}, "", {int_attribute("keepdims", 0)}),
                    node("SequenceMap", {"rows"}, {"m", "s"}, "map", {graph_attribute("body", graph(each, "each"))}),
                    concat("m", "y", 0), concat("s", "sums", 1), node("SequenceLength", {"m"}, {"n"})},
                   {value("x", kFloat, {-1, 3})},
                   {value("y", kFloat, {-1}), value("sums", kFloat, {-1}), value("n", kInt64, {})},
                   {floats("none", {}, {0})}})),
      {{"x", {0, 3}, {9, 3}}});
  p.feed("x", {3, 3}, Floats{-1, -2, -3, 1, -2, 4, 5, 6, 7});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), (Floats{1, 4, 5, 6, 7}));
  EXPECT_EQ(p.of<float>("sums"), (Floats{-6, 3, 18}));
  EXPECT_EQ(p.of<int64_t>("n"), Numbers{3});
  p.feed("x", {0, 3}, Floats{});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.shape("y"), Numbers{0});
}

/// Shapes follow a carried number that grows a thousandfold each iteration.
TEST(LoopRuns, NumbersThatShapesFollowHave32Bits) {
  const Proto body = loop_body(
      {kOn, node("Mul", {"k", "thousand"}, {"k1"}), node("Slice", {"x", "zero", "k"}, {"part"}), sum_of("part", "s")},
      {"k"}, {"on", "k1", "s"}, kInt64);
  GraphParts parts{{loop_node({"m", "", "one"}, {"k_end", "sums"}, body)},
                   {value("x", kFloat, {4}), value("m", kInt64)},
                   {value("sums", kFloat, {-1})},
                   {list("one", {1}), list("zero", {0}), list("thousand", {1000})}};
  Program p(model(graph(parts)), {{"m", {0}, {9}}});
  p.feed("x", {4}, Floats{1, 2, 3, 4}).feed("m", {}, Numbers{4});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("sums"), (Floats{1, 10, 10, 10}));
  p.feed("m", {}, Numbers{5});
  const std::string error = p.run();
  EXPECT_NE(error.find("iteration 4: element 0 of input 'k' is 1000000000000, and shapes depend on it: 32 bits"),
            std::string::npos)
      << error;
}

/// Room for a slice is made for those before it, too: they are as long, or the run ends before they are copied.
TEST(LoopRuns, SlicesOfOtherLengthsAreRefusedBeforeTheyHaveRoom) {
  const Proto body = loop_body(
      {kOn, node("Gather", {"lengths", "i"}, {"f"}), node("Cast", {"f"}, {"n"}, "", {int_attribute("to", kInt64)}),
       node("Range", {"none", "n", "step"}, {"slice"})},
      {}, {"on", "slice"}, kInt64);
  Program p(model(
      graph({{node("Cast", {"count"}, {"m"}, "", {int_attribute("to", kInt64)}), loop_node({"m", ""}, {"all"}, body)},
             {value("lengths", kFloat, {2}), value("count", kFloat)},
             {value("all", kInt64, {-1, -1})},
             {scalar("none", 0), scalar("step", 1)}})));
  p.feed("lengths", {2}, Floats{2, 2}).feed("count", {}, Floats{2});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<int64_t>("all"), (Numbers{0, 1, 0, 1}));
  p.feed("lengths", {2}, Floats{2, 1e7F});
  const std::string error = p.run();
  EXPECT_NE(
      error.find("iteration 1: output 'slice' gives a slice of [10000000] to stack, and those before it were [2]"),
      std::string::npos)
      << error;
}

/// An inner loop makes 0, 1, 2 ... and a number more of each, of as many elements as a table says of its iteration;
/// what it makes last has three. Its memory grows in the second of the outer iterations, in which what reads it is
/// bound as it was in the first one.
TEST(LoopRuns, StepsFollowMemoryThatGrows) {
  const auto cast = [](std::string_view x, std::string_view y) {
    return node("Cast", {x}, {y}, "", {int_attribute("to", kInt64)});
  };
  GraphParts inner{.nodes = {node("Identity", {"go2"}, {"on2"}), node("Gather", {"row", "i2"}, {"fn"}), cast("fn", "n"),
                             node("Range", {"none", "n", "step"}, {"range"}), node("Add", {"range", "more"}, {"u1"})},
                   .inputs = {value("i2", kInt64), value("go2", kBool), value_of_any("u", kInt64)},
                   .outputs = {value("on2", kBool), value_of_any("u1", kInt64)}};
  const Proto outer =
      loop_body({kOn, node("Gather", {"table", "i"}, {"row"}), node("Gather", {"added", "i"}, {"fmore"}),
                 cast("fmore", "more"), loop_node({"three", "", "first"}, {"made"}, graph(inner, "inner")),
                 node("Mul", {"made", "made"}, {"squares"}), sum_of("squares", "s"), node("Add", {"v", "s"}, {"v1"})},
                {"v"}, {"on", "v1", "s"}, kInt64);
  Program p(model(graph({{loop_node({"three", "", "none"}, {"y", "sums"}, outer)},
                         {value("table", kFloat, {3, 3}), value("added", kFloat, {3})},
                         {value("y", kInt64, {}), value("sums", kInt64, {3})},
                         {scalar("three", 3), scalar("none", 0), scalar("step", 1), list("first", {0})}})));
  p.feed("table", {3, 3}, Floats{3, 3, 3, 60000, 3, 3, 3, 3, 3}).feed("added", {3}, Floats{0, 1, 2});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<int64_t>("sums"), (Numbers{5, 14, 29}));
  EXPECT_EQ(p.of<int64_t>("y"), Numbers{48});
}

}  // namespace
}  // namespace kiln::api
