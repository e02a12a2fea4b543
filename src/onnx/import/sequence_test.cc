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
  problem({node("SequenceConstruct", {"x"}, {"s"}), node("Relu", {"s"}, {"y"}, "r")},
          "node 'r' (Relu): input 's' is a sequence; a tensor is needed");
  problem({node("SequenceConstruct", {"x", "far"}, {"y"}, "mixed")},
          "the sequence would hold f32[6, 2] and i64[1]; one type is needed");
  problem({node("SequenceConstruct", {"x"}, {"y"}, "s")}, "output 'y' is a sequence; outputs are tensors");
  problem({node("Optional", {"x"}, {"y"}, "o")}, "output 'y' is an optional; outputs are tensors");
  problem({node("SequenceConstruct", {"x", "far"}, {"s"})}, "the sequence would hold");
  problem({node("SequenceConstruct", {"x"}, {"s"}), node("SequenceErase", {"s", "far"}, {"t"}, "erase")},
          "position 7 is outside the sequence of 1");
  problem({node("SequenceConstruct", {"x"}, {"s"}), node("SequenceInsert", {"s", "x", "far"}, {"t"}, "insert")},
          "position 7 is outside the sequence of 1");
  problem({node("SequenceConstruct", {"x"}, {"s"}), node("SequenceAt", {"s", "x"}, {"y"}, "at")},
          "the position is f32[6, 2]; a single integer is needed");
  problem({node("SequenceEmpty", {}, {"s"}), node("SequenceErase", {"s"}, {"t"})}, "the sequence is empty");
  problem(
      {node("SequenceConstruct", {"x"}, {"s"}), node("Flatten", {"x"}, {"f"}),
       node("ReduceMax", {"x"}, {"m"}, "", {int_attribute("keepdims", 0)}), node("SequenceInsert", {"s", "m"}, {"t"}),
       node("ConcatFromSequence", {"t"}, {"y"}, "", {int_attribute("axis", 0)})},
      "the sequence has elements of f32[6, 2] and of f32[]; one type and rank is needed");
  problem({node("SequenceEmpty", {}, {"s"}), node("ConcatFromSequence", {"s"}, {"y"}, "", {int_attribute("axis", 0)})},
          "the sequence is empty");
}

/// A sequence or an optional as an input of the model.
std::string of_input(uint32_t kind) {
  const Proto tensor = Proto().integer(field::tensor_type::kElementType, kFloat);
  const Proto element = Proto().message(field::type::kTensor, tensor);
  const Proto input = Proto()
                          .text(field::value_info::kName, "s")
                          .message(field::value_info::kType,
                                   Proto().message(kind, Proto().message(field::container_type::kElement, element)));
  return text_of(import_proto(model(graph({{node("Identity", {"s"}, {"y"})}, {input}, {value("y")}, {}}))));
}
TEST(ImportSequences, OfInputsSayWhatToDo) {
  EXPECT_EQ(of_input(field::type::kSequence),
            "input 's': is a sequence; inputs are tensors: give each element an input of its own, and make it of them "
            "(SequenceConstruct, Optional)\n");
  EXPECT_NE(of_input(field::type::kOptional).find("input 's': is an optional; inputs are tensors"), std::string::npos);
}
TEST(ImportSequences, OfAnAxisThatIsNotKnownAreStacks) {
  const auto of_rows = [](std::vector<Proto> nodes) {
    return text_of(import_proto(model(
        graph({std::move(nodes), {value("x", kFloat, {-1, 2})}, {value("y", kFloat, {})}, {i64s("first", {0})}}))));
  };
  const Proto rows = node("SplitToSequence", {"x"}, {"s"}, "", {int_attribute("keepdims", 0)});
  EXPECT_NE(of_rows({rows, node("SequenceLength", {"s"}, {"y"})}).find("DimValues{values=[x_0]"), std::string::npos);
  EXPECT_NE(of_rows({rows, node("SequenceAt", {"s", "first"}, {"y"})}).find("Gather{mode=default, axis=0"),
            std::string::npos)
      << "there may be none";
  const Proto columns = node("SplitToSequence", {"x"}, {"s"}, "", {int_attribute("axis", 1)});
  EXPECT_NE(of_rows({columns, node("SequenceAt", {"s", "first"}, {"y"})}).find("Slice{starts=[0], sizes=[1]"),
            std::string::npos);
  const Proto kept = node("SplitToSequence", {"x"}, {"s"});
  const Proto join = node("ConcatFromSequence", {"s"}, {"y"}, "", {int_attribute("axis", 0)});
  EXPECT_NE(of_rows({kept, join}).find("# f32[x_0, 2]"), std::string::npos) << of_rows({kept, join});
  // As many ones as there are rows, which PyTorch writes for repeat_interleave.
  const Proto one = attribute("value", 4).message(field::attribute::kT, i64s("", {1}));
  const Proto extents = node("Shape", {"x"}, {"n"}, "", {int_attribute("end", 1)});
  const Proto ones = node("ConstantOfShape", {"n"}, {"o"}, "", {one});
  const Proto by_ones = node("SplitToSequence", {"x", "o"}, {"s"});
  EXPECT_NE(of_rows({extents, ones, by_ones, join}).find("# f32[x_0, 2]"), std::string::npos)
      << of_rows({extents, ones, by_ones, join});
  const Proto zeros =
      node("ConstantOfShape", {"n"}, {"o"}, "", {attribute("value", 4).message(field::attribute::kT, i64s("", {0}))});
  EXPECT_NE(of_rows({extents, zeros, by_ones, join}).find("split"), std::string::npos) << "these are no rows";
  // As many ones as another input has elements, which the run compares.
  const std::string apart = text_of(import_proto(model(graph({{node("Shape", {"r"}, {"n"}), ones, by_ones, join},
                                                              {value("x", kFloat, {-1, 2}), value("r", kInt64, {-1})},
                                                              {value("y", kFloat, {})},
                                                              {}}))));
  EXPECT_NE(apart.find("# f32[x_0, 2]"), std::string::npos) << apart;
}
TEST(ImportSequences, StacksAreCut) {
  const auto erased = [](int64_t at, int64_t too) {
    return text_of(import_proto(
        model(graph({{node("SplitToSequence", {"x"}, {"s"}), node("SequenceErase", {"s", "at"}, {"t"}, "one"),
                      node("SequenceErase", {"t", "too"}, {"u"}, "two"),
                      node("ConcatFromSequence", {"u"}, {"y"}, "", {int_attribute("axis", 0)})},
                     {value("x", kFloat, {-1, 2})},
                     {value("y", kFloat, {})},
                     {i64s("at", {at}), i64s("too", {too})}}))));
  };
  EXPECT_NE(erased(3, 2).find("# f32[x_0 - 2, 2]"), std::string::npos) << erased(3, 2);
  EXPECT_NE(erased(-1, -1).find("# f32[x_0 - 2, 2]"), std::string::npos) << erased(-1, -1);
  EXPECT_NE(erased(3, -4).find("node 'two' (SequenceErase) of too i64[1]: position x_0 - 5 in a sequence of x_0 - 1 "
                               "elements: in which part of it this is must be known before the network runs"),
            std::string::npos)
      << erased(3, -4);
}
TEST(ImportSequences, APositionOfTheRunIsGathered) {
  const auto chosen = [](std::string_view second) {
    return text_of(
        import_proto(model(graph({{node("Exp", {second}, {"e"}), node("SequenceConstruct", {"x", "e"}, {"s"}),
                                   node("SequenceAt", {"s", "at"}, {"y"})},
                                  {value("x", kFloat, {6, 2}), value("z", kFloat, {5, 2}), value("at", kInt64)},
                                  {value("y", kFloat, {})},
                                  {}}))));
  };
  EXPECT_NE(chosen("x").find("Gather{mode=default, axis=0"), std::string::npos) << chosen("x");
  EXPECT_NE(
      chosen("z").find("a position chooses among all elements, which are of different shapes: f32[6, 2] and f32[5, 2]"),
      std::string::npos)
      << chosen("z");
}
TEST(ImportSequences, OptionalsOfSequences) {
  const std::string text =
      imported({node("SequenceConstruct", {"x", "x"}, {"s"}), node("Optional", {"s"}, {"o1"}),
                node("Identity", {"o1"}, {"o"}), node("OptionalGetElement", {"o"}, {"e"}),
                node("OptionalHasElement", {"o"}, {"h"}), node("SequenceLength", {"e"}, {"n"}),
                node("Cast", {"h"}, {"c"}, "", {int_attribute("to", kInt64)}), node("Add", {"n", "c"}, {"y"})});
  EXPECT_NE(text.find("Constant{value=i64[](2)}"), std::string::npos) << text;
  EXPECT_NE(imported({node("Optional", {"x"}, {"o"}), node("Optional", {"o"}, {"y"}, "twice")})
                .find("input 0 is an optional; a sequence is needed"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::onnx
