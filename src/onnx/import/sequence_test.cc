#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

/// What becomes of nodes between an x f32[6, 2] and an output y.
std::string imported(std::vector<Proto> nodes, std::vector<Proto> constants = {}) {
  return text_of(import_proto(
      model(graph({std::move(nodes), {value("x", kFloat, {6, 2})}, {value("y", kFloat, {})}, std::move(constants)}))));
}

TEST(ImportSequences, LeaveNoTrace) {
  const std::string text = imported(
      {node("SequenceConstruct", {"x", "x"}, {"s"}), node("Relu", {"x"}, {"r"}),
       node("SequenceInsert", {"s", "r", "first"}, {"t"}), node("SequenceErase", {"t", "last"}, {"u"}),
       node("Identity", {"u"}, {"v"}), node("SequenceAt", {"v", "first"}, {"a"}), node("SequenceLength", {"v"}, {"n"}),
       node("Cast", {"n"}, {"c"}, "", {int_attribute("to", kFloat)}), node("Add", {"a", "c"}, {"y"})},
      {i64s("first", {0}), i64s("last", {-1})});
  EXPECT_NE(text.find("Activation{kind=relu"), std::string::npos) << text;
  EXPECT_EQ(text.find("Concat"), std::string::npos) << text;
}
TEST(ImportSequences, OfPartsAreJoinedAgain) {
  const std::string even = imported({node("SplitToSequence", {"x", "four"}, {"s"}),
                                     node("ConcatFromSequence", {"s"}, {"y"}, "", {int_attribute("axis", 0)})},
                                    {i64s("four", {4, 2})});
  EXPECT_NE(even.find("Concatenation{axis=0}"), std::string::npos) << even;
  const std::string slices = imported(
      {node("SplitToSequence", {"x"}, {"s"}, "", {int_attribute("keepdims", 0)}),
       node("ConcatFromSequence", {"s"}, {"y"}, "", {int_attribute("axis", 1), int_attribute("new_axis", 1)})});
  EXPECT_NE(slices.find("Concatenation{axis=1}"), std::string::npos) << slices;
}
TEST(ImportSequences, OptionalsHaveOneElementOrNone) {
  EXPECT_NE(
      imported({node("Optional", {"x"}, {"o"}), node("OptionalGetElement", {"o"}, {"e"}), node("Relu", {"e"}, {"y"})})
          .find("(x)"),
      std::string::npos);
  EXPECT_NE(imported({node("Optional", {}, {"o"}), node("OptionalGetElement", {"o"}, {"e"}, "get")})
                .find("the optional has no element"),
            std::string::npos);
}
TEST(ImportSequences, SayWhatIsWrong) {
  const auto problem = [](std::vector<Proto> nodes, std::string_view part) {
    const std::string text = imported(std::move(nodes), {i64s("far", {7})});
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  problem({node("SequenceConstruct", {"x"}, {"s"}), node("SequenceAt", {"s", "far"}, {"y"}, "at")},
          "position 7 is outside the sequence of 1");
  problem({node("SequenceLength", {"x"}, {"y"}, "n")}, "input 0 is a tensor; a sequence is needed");
  problem({node("SequenceConstruct", {"x", "far"}, {"y"}, "mixed")},
          "the sequence would hold f32[6, 2] and i64[1]; one type is needed");
  problem({node("SequenceConstruct", {"x"}, {"y"}, "s")}, "output 'y' is a sequence");
  problem({node("SequenceEmpty", {}, {"s"}), node("ConcatFromSequence", {"s"}, {"y"}, "", {int_attribute("axis", 0)})},
          "the sequence is empty");
}

}  // namespace
}  // namespace kiln::onnx
