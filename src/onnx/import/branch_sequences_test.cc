// Sequences and optionals that branches give.
#include <gtest/gtest.h>

#include "onnx/test_bodies.h"

namespace kiln::onnx {
namespace {

using namespace test;

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

Proto branch(std::vector<Proto> nodes, std::string_view output) { return body(nodes, {}, {output}); }
const Proto kNegated = node("Neg", {"x"}, {"r"});
const Proto kTwo = branch({kNegated, node("SequenceConstruct", {"x", "r"}, {"a"})}, "a");
const Proto kOtherTwo = branch(
    {node("Concat", {"x", "x"}, {"q"}, "", {int_attribute("axis", 0)}), node("SequenceConstruct", {"q", "x"}, {"b"})},
    "b");
const Proto kOne = branch({node("SequenceConstruct", {"x"}, {"b"})}, "b");
const Proto kNone = branch({node("SequenceEmpty", {}, {"b"})}, "b");

TEST(BranchSequences, OfOneLengthAreOutputsSideBySide) {
  const std::string text = print_of({if_node("c", {"s"}, kTwo, kOtherTwo), node("SequenceAt", {"s", "zero"}, {"y"}),
                                     node("SequenceLength", {"s"}, {"k"}), concat_from("s", "z", 0)},
                                    {"y", "k", "z"});
  EXPECT_TRUE(has(text, "If{outputs=2, decided=[{output=0, axis=0}]}")) << text;
  EXPECT_TRUE(has(text, "k = Constant{value=i64[](2)}")) << text;
}
/// Where both begin with x, that stays in front.
TEST(BranchSequences, OfTwoLengthsAreStacks) {
  EXPECT_EQ(
      types_of({if_node("c", {"s"}, kTwo, kOne), node("SequenceLength", {"s"}, {"k"}), concat_from("s", "y", 0, 1)},
               {"y", "k"}),
      "f32[\"extent of if/If\" + 1, x_0, 3]; i64[]");
  EXPECT_EQ(types_of({if_node("c", {"s"}, kNone, kTwo), concat_from("s", "y", 1, 1)}, {"y"}),
            "f32[x_0, \"extent of if/If\", 3]");
}
TEST(BranchSequences, WhatBothTakeFromAroundThemStays) {
  const auto added = [](std::string_view element, std::string_view output) {
    return branch({node("Neg", {element}, {"e"}), node("SequenceInsert", {"s0", "e"}, {"s1"}),
                   node("SequenceInsert", {"s1", "x"}, {output})},
                  output);
  };
  const std::string text =
      print_of({node("SequenceConstruct", {"x", "p"}, {"s0"}), if_node("c", {"s"}, added("x", "a"), added("p", "b")),
                node("SequenceAt", {"s", "one"}, {"y"}), node("SequenceAt", {"s", "last"}, {"z"})},
               {"y", "z"});
  EXPECT_TRUE(has(text, "If{outputs=1,")) << text;
  EXPECT_TRUE(has(text, "y = Identity(p)")) << text;
  EXPECT_TRUE(has(text, "z = Identity(x)")) << text;
  const auto ended = [](std::string_view element, std::string_view output) {
    return branch({node("SequenceConstruct", {element, "x", "p"}, {output})}, output);
  };
  const std::string end = print_of(
      {if_node("c", {"s"}, ended("x", "a"), ended("p", "b")), node("SequenceAt", {"s", "last"}, {"y"})}, {"y"});
  EXPECT_TRUE(has(end, "y = Identity(p)")) << end;
  const std::string same = print_of({node("SequenceConstruct", {"x"}, {"s0"}),
                                     if_node("c", {"s"}, branch({node("Identity", {"s0"}, {"a"})}, "a"),
                                             branch({node("Identity", {"s0"}, {"b"})}, "b")),
                                     node("SequenceAt", {"s", "zero"}, {"y"})},
                                    {"y"});
  EXPECT_FALSE(has(same, "If")) << "no branch makes anything: " << same;
}
TEST(BranchSequences, BesideTensors) {
  const Proto then = body({node("Neg", {"x"}, {"a"}), node("SequenceConstruct", {"x"}, {"as"})}, {}, {"as", "a"});
  const Proto otherwise = body({node("Exp", {"x"}, {"b"}), node("SequenceConstruct", {"b"}, {"bs"})}, {}, {"bs", "b"});
  EXPECT_EQ(types_of({if_node("c", {"s", "y"}, then, otherwise), concat_from("s", "z", 0)}, {"y", "z"}),
            "f32[x_0, 3]; f32[x_0, 3]");
}
TEST(BranchSequences, OfKnownConditionsMayDiffer) {
  const auto taken = [](bool condition) {
    return types_of(
        {node("Constant", {}, {"known"}, "", {int_attribute("value_int", condition)}),
         node("Cast", {"known"}, {"k"}, "", {int_attribute("to", kBool)}),
         if_node("k", {"s"}, branch({node("SequenceConstruct", {"d"}, {"a"})}, "a"), kOne), concat_from("s", "y", 0)},
        {"y"});
  };
  EXPECT_EQ(taken(true), "i64[20]");
  EXPECT_EQ(taken(false), "f32[x_0, 3]");
}
/// The condition is of extents: one branch is assumed, because the other one cannot be.
TEST(BranchSequences, OfAssumedConditions) {
  EXPECT_EQ(types_of({node("Shape", {"x"}, {"shape"}), node("Gather", {"shape", "zero"}, {"rows"}),
                      node("Less", {"rows", "few"}, {"k"}),
                      if_node("k", {"s"},
                              branch({node("Foo", {"x"}, {"f"}), node("SequenceConstruct", {"f"}, {"a"})}, "a"), kTwo),
                      concat_from("s", "y", 0)},
                     {"y"}),
            "f32[2*x_0, 3]");
}
TEST(BranchSequences, Optionals) {
  const Proto with = branch({kNegated, node("Optional", {"r"}, {"a"})}, "a"),
              other = branch({node("Optional", {"x"}, {"b"})}, "b");
  const Proto of_two =
      branch({kNegated, node("SequenceConstruct", {"x", "r"}, {"t"}), node("Optional", {"t"}, {"a"})}, "a");
  const Proto empty = branch({node("Optional", {}, {"b"})}, "b");
  const Proto get = node("OptionalGetElement", {"s"}, {"y"});
  EXPECT_EQ(types_of({if_node("c", {"s"}, with, other), get}, {"y"}), "f32[x_0, 3]");
  EXPECT_EQ(types_of({if_node("c", {"s"}, of_two, of_two), node("OptionalGetElement", {"s"}, {"t2"}),
                      concat_from("t2", "y", 0)},
                     {"y"}),
            "f32[2*x_0, 3]");
  EXPECT_TRUE(has(types_of({if_node("c", {"s"}, with, empty), get}, {"y"}),
                  "node 'if' (If) of c bool[]: one branch gives a sequence for 'a' and the other one an optional, or "
                  "an optional has an element in "
                  "one branch only"));
}
TEST(BranchSequences, SayWhatIsWrong) {
  const auto problem = [](const Proto& then, const Proto& otherwise, std::string_view part) {
    const std::string text = types_of({if_node("c", {"s"}, then, otherwise), concat_from("s", "y", 0)}, {"y"});
    EXPECT_TRUE(has(text, part)) << text;
  };
  problem(kTwo, branch({kNegated}, "r"), "a branch gives a tensor for 'a' and the other one does not");
  problem(kTwo, branch({node("SequenceConstruct", {"d", "d"}, {"b"})}, "b"),
          "output 0 is f32[x_0, 3] from the first branch and i64[20] from the second; types and ranks must agree");
  problem(branch({node("SequenceConstruct", {"p", "p", "x"}, {"a"})}, "a"),
          branch({node("SequenceConstruct", {"p", "d"}, {"b"})}, "b"),
          "the sequence would hold f32[7, 3] and i64[20]; one type is needed");
  problem(branch({node("NonZero", {"x"}, {"z"}), node("SequenceConstruct", {"z"}, {"a"})}, "a"), kNone,
          "to a sequence and the other one none; their shape must be known before the branches");
}

}  // namespace
}  // namespace kiln::onnx
