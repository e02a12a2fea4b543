#include <gtest/gtest.h>

#include "onnx/test_bodies.h"

namespace kiln::onnx {
namespace {

using namespace test;

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

const Proto kParts = node("Constant", {}, {"parts"}, "", {ints_attribute("value_ints", {1, 4, 2})});
const Proto kSplit = node("SplitToSequence", {"p", "parts"}, {"s"});  // f32[1, 3], f32[4, 3], f32[2, 3]

TEST(ImportSequenceMap, ItsBodyStandsThereForEachElement) {
  const std::string text = print_of(
      {kParts, kSplit, node("Exp", {"x"}, {"around"}),
       map_node(
           {"s", "x"}, {"m", "l"},
           body({node("Neg", {"e"}, {"f"}), node("Concat", {"f", "v", "around"}, {"g"}, "", {int_attribute("axis", 0)}),
                 node("Shape", {"e"}, {"h"})},
                {"e", "v"}, {"g", "h"})),
       concat_from("m", "y", 0), concat_from("l", "z", 0, 1)},
      {"y", "z"});
  EXPECT_FALSE(has(text, "Loop")) << text;
  EXPECT_TRUE(has(text, "f32[4, 3]")) << text;
  EXPECT_TRUE(has(text, "# f32[6*x_0 + 7, 3]")) << text;
  EXPECT_TRUE(has(text, "# i64[3, 2]")) << text;
}
/// The inner body's names are those of the outer one's, and of the graph around them.
TEST(ImportSequenceMap, InnerOnesMayShareNames) {
  const Proto inner = body({node("Sin", {"e"}, {"f"})}, {"e"}, {"f"});
  const Proto outer = body({node("SplitToSequence", {"e"}, {"s"}, "", {int_attribute("axis", 1)}),
                            map_node({"s"}, {"m"}, inner), concat_from("m", "f", 1)},
                           {"e"}, {"f"});
  const std::string text = print_of({kParts, kSplit, map_node({"s"}, {"m"}, outer), concat_from("m", "y", 0)}, {"y"});
  size_t sines = 0;
  for (size_t at = text.find("kind=sin"); at != std::string::npos; at = text.find("kind=sin", at + 1)) ++sines;
  EXPECT_EQ(sines, 9u) << text;
  EXPECT_TRUE(has(text, "# f32[7, 3]")) << text;
}
TEST(ImportSequenceMap, OfNoElementsIsEmpty) {
  EXPECT_EQ(types_of({node("SequenceEmpty", {}, {"s"}),
                      map_node({"s"}, {"m"}, body({node("Neg", {"e"}, {"f"})}, {"e"}, {"f"})),
                      node("SequenceInsert", {"m", "x"}, {"t"}), concat_from("t", "y", 0)},
                     {"y"}),
            "f32[x_0, 3]");
}
TEST(ImportSequenceMap, OfSlicesIsALoop) {
  const std::string text =
      print_of({node("SplitToSequence", {"x"}, {"s"}, "", {int_attribute("keepdims", 0)}), node("Exp", {"x"}, {"v"}),
                map_node({"s", "v"}, {"m"}, body({node("Add", {"e", "w"}, {"f"})}, {"e", "w"}, {"f"})),
                node("SequenceLength", {"m"}, {"k"}), concat_from("m", "y", 0, 1)},
               {"y", "k"});
  EXPECT_TRUE(has(text, "Loop{carried=0, scans=[1], stacks=[1]")) << text;
  EXPECT_TRUE(has(text, "f32[x_0, x_0, 3]")) << text;
}
/// Rows of which each gives the places of its elements above zero, as they are and squared, and its sum: places differ.
TEST(ImportSequenceMap, ElementsThatDifferInOneAxisAreJoined) {
  const Proto body_of_rows = body({node("Greater", {"e", "none"}, {"above"}),
                                   node("Compress", {"e", "above"}, {"found"}, "", {int_attribute("axis", 0)}),
                                   node("ReduceSum", {"e"}, {"sum"}), node("Mul", {"found", "found"}, {"squares"})},
                                  {"e"}, {"found", "sum", "squares"}, {floats("none", {}, {0})});
  const auto behind = [&](const std::vector<Proto>& nodes, Texts outputs) {
    std::vector<Proto> all{node("SplitToSequence", {"x"}, {"s"}, "", {int_attribute("keepdims", 0)}),
                           map_node({"s"}, {"m", "sums", "q"}, body_of_rows)};
    all.insert(all.end(), nodes.begin(), nodes.end());
    return print_of(all, outputs);
  };
  const std::string text = behind({concat_from("m", "y", 0), concat_from("sums", "z", 0), concat_from("q", "u", 0),
                                   node("SequenceLength", {"q"}, {"k"})},
                                  {"y", "z", "u", "k"});
  EXPECT_TRUE(has(text, "Loop{carried=2, scans=[1], stacks=[1]")) << text;
  EXPECT_TRUE(
      has(behind({node("SequenceAt", {"m", "last"}, {"y"})}, {"y"}), "joined along it, and nothing else can be done"));
}
TEST(ImportSequenceMap, ElementsThatDifferInTwoAxesAreRefused) {
  const std::string text =
      print_of({node("SplitToSequence", {"x"}, {"s"}, "", {int_attribute("keepdims", 0)}),
                map_node({"s"}, {"m"},
                         body({node("NonZero", {"e"}, {"places"}), node("Transpose", {"places"}, {"turned"}),
                               node("Mul", {"turned", "places"}, {"f"})},
                              {"e"}, {"f"})),
                concat_from("m", "y", 0)},
               {"y"});
  EXPECT_TRUE(has(text, "node 'map' (SequenceMap): output 'f' of the body has elements of different shapes (i64["))
      << text;
  EXPECT_TRUE(has(text, "); they may differ in one axis")) << text;
}
TEST(ImportSequenceMap, SequencesOfOtherPartsAreStacked) {
  const std::string text =
      types_of({node("SplitToSequence", {"x"}, {"s"}, "", {int_attribute("keepdims", 0)}),
                node("SplitToSequence", {"x"}, {"t0"}, "", {int_attribute("keepdims", 0)}),
                node("SequenceErase", {"t0", "zero"}, {"t1"}), node("SequenceAt", {"t0", "zero"}, {"e0"}),
                node("SequenceInsert", {"t1", "e0"}, {"t"}),
                map_node({"s", "t"}, {"m"}, body({node("Add", {"a", "b"}, {"f"})}, {"a", "b"}, {"f"})),
                concat_from("m", "y", 0, 1)},
               {"y"});
  EXPECT_EQ(text, "f32[x_0, 3]");
}
TEST(ImportSequenceMap, SaysWhatIsWrong) {
  const auto problem = [](std::vector<Proto> nodes, std::string_view part) {
    nodes.insert(nodes.begin(), {kParts, kSplit});
    const std::string text = types_of(std::move(nodes), {"y"});
    EXPECT_TRUE(has(text, part)) << text;
  };
  const Proto y = concat_from("m", "y", 0), negated = body({node("Neg", {"e"}, {"f"})}, {"e"}, {"f"});
  problem({map_node({"x"}, {"m"}, negated), y}, "input 0 is a tensor; a sequence is needed");
  problem({map_node({"s", "x"}, {"m"}, negated), y}, "the body has 1 inputs; the node has 2");
  problem({map_node({"s"}, {"m", "l"}, negated), y}, "the body has 1 outputs; the node has 2");
  problem({node("SequenceMap", {"s"}, {"m"}, "map"), y}, "attribute 'body' is missing");
  problem({node("SequenceErase", {"s"}, {"t"}),
           map_node({"s", "t"}, {"m"}, body({node("Add", {"e", "f"}, {"g"})}, {"e", "f"}, {"g"})), y},
          "input 0 has 3 elements and input 1 has 2; one length is needed");
  problem({map_node({"s"}, {"m"}, body({node("Add", {"e", "p"}, {"f"}, "add")}, {"e"}, {"f"})), y},
          "node 'map' (SequenceMap): element 1: node 'add' (Add) of e f32[4, 3], p f32[7, 3]");
  problem({map_node({"s"}, {"m"}, body({node("SequenceConstruct", {"e"}, {"f"})}, {"e"}, {"f"})), y},
          "output 'f' of the body is a sequence or an optional; a tensor is needed");
  problem({map_node({"s"}, {"m"}, body({node("Foo", {"e"}, {"f"}, "foo")}, {"e"}, {"f"})), y},
          "element 0: node 'foo' (Foo) of e f32[1, 3]: Kiln has no importer for operator Foo");
  problem({node("Optional", {"x"}, {"o"}), map_node({"o"}, {"m"}, negated), y},
          "input 0 is an optional; a sequence is needed");
}

}  // namespace
}  // namespace kiln::onnx
