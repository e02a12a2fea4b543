// Sequences that loops make: what the loop is in the graph, and what is said of those that cannot be.
#include <gtest/gtest.h>

#include "onnx/test_bodies.h"

namespace kiln::onnx {
namespace {

using namespace test;

const Proto kEmpty = node("SequenceEmpty", {}, {"s"});
const Proto kGoOn = node("Identity", {"go"}, {"on"});
const Proto kInsert = node("SequenceInsert", {"t", "e"}, {"u"});

/// A loop of n iterations that carries the sequence s, "t" in its body, and gives "u" to "r".
Proto carrying(std::vector<Proto> nodes, std::string_view count = "n") {
  nodes.push_back(kGoOn);
  return loop_node({count, "", "s"}, {"r"}, body(nodes, {"i", "go", "t"}, {"on", "u"}));
}
Proto adding(std::string_view count = "n") { return carrying({node("Neg", {"x"}, {"e"}), kInsert}, count); }

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(CarriedSequences, AreAStackedOutput) {
  const std::string text = print_of({kEmpty, adding(), concat_from("r", "y", 0, 1)}, {"y"});
  EXPECT_TRUE(has(text, "Loop{carried=0, scans=[], stacks=[1], tests=false, decided=[], most=[], elements=[]}"))
      << text;
  EXPECT_FALSE(has(text, "Concatenation")) << text;
}
TEST(CarriedSequences, AreJoinedAlongAnyAxis) {
  const auto joined = [](int64_t axis, int64_t new_axis) {
    return types_of({kEmpty, adding(), concat_from("r", "y", axis, new_axis)}, {"y"});
  };
  EXPECT_EQ(joined(0, 1), "f32[max(\"n[0]\", 0), x_0, 3]");
  EXPECT_EQ(joined(-1, 1), "f32[x_0, 3, max(\"n[0]\", 0)]");
  EXPECT_EQ(joined(0, 0), "f32[x_0*max(\"n[0]\", 0), 3]");
  EXPECT_EQ(joined(1, 0), "f32[x_0, 3*max(\"n[0]\", 0)]");
}
TEST(CarriedSequences, KnowTheirLengthAndElements) {
  const std::string text =
      print_of({node("SequenceConstruct", {"x", "x"}, {"s"}), adding(), node("SequenceLength", {"r"}, {"k"}),
                node("SequenceAt", {"r", "one"}, {"first"}), node("SequenceAt", {"r", "last"}, {"y"})},
               {"k", "first", "y"});
  EXPECT_TRUE(has(text, "DimValues{values=[max(\"n[0]\", 0) + 2]")) << text;
  EXPECT_TRUE(has(text, "first = Identity(x)")) << text;
  EXPECT_TRUE(has(text, "y = Gather")) << "whether the last element is of the loop is not known: " << text;
}
TEST(CarriedSequences, ElementsAroundThoseOfTheLoop) {
  EXPECT_EQ(types_of({kEmpty, adding(), node("SequenceInsert", {"r", "x"}, {"a"}),
                      node("SequenceInsert", {"a", "x", "zero"}, {"b"}), node("SequenceErase", {"b", "zero"}, {"e"}),
                      node("SequenceErase", {"e"}, {"f"}), concat_from("f", "y", 0, 1)},
                     {"y"}),
            "f32[max(\"n[0]\", 0), x_0, 3]");
}
TEST(CarriedSequences, LastElementsAreCarriedValues) {
  const std::string text =
      print_of({node("SequenceConstruct", {"x", "x"}, {"s"}),
                carrying({node("SequenceAt", {"t", "last"}, {"a"}), node("SequenceAt", {"t", "i"}, {"b"}),
                          node("Add", {"a", "b"}, {"e"}), kInsert}),
                concat_from("r", "y", 0, 1)},
               {"y"});
  EXPECT_TRUE(has(text, "Loop{carried=2, scans=[], stacks=[1]")) << "those at i and i + 1 of i + 2: " << text;
}
TEST(CarriedSequences, SeveralElementsAnIterationAndTensorsBesideThem) {
  const Proto two =
      loop_node({"n", "", "s", "x"}, {"r", "z", "lengths"},
                body({node("Neg", {"v"}, {"w"}), node("SequenceInsert", {"t", "w"}, {"t1"}),
                      node("SequenceInsert", {"t1", "v"}, {"u"}), node("SequenceLength", {"t"}, {"k"}), kGoOn},
                     {"i", "go", "t", "v"}, {"on", "u", "w", "k"}));
  const std::string text = print_of({kEmpty, two, concat_from("r", "y", 0, 1)}, {"y", "z", "lengths"});
  EXPECT_TRUE(has(text, "Loop{carried=1, scans=[], stacks=[1, 1]")) << text;
  EXPECT_TRUE(has(text, "DimValues{values=[2*\"iteration of loop/Loop\"]")) << text;
  EXPECT_TRUE(has(text, "f32[2*max(\"n[0]\", 0), x_0, 3]")) << text;
}
TEST(CarriedSequences, LoopsInLoopsAddToOne) {
  const Proto inner = loop_node(
      {"n", "", "t"}, {"u"},
      body({node("Neg", {"x"}, {"e"}), node("SequenceInsert", {"t2", "e"}, {"u2"}), node("Identity", {"go2"}, {"on2"})},
           {"j", "go2", "t2"}, {"on2", "u2"}));
  EXPECT_EQ(types_of({kEmpty, carrying({inner}), concat_from("r", "y", 0, 1)}, {"y"}),
            "f32[max(\"n[0]\", 0)*max(\"n[0]\", 0), x_0, 3]");
}
TEST(CarriedSequences, WhileLoopsDecideTheLength) {
  const Proto loop = loop_node(
      {"", "c", "s"}, {"r"},
      body({kInsert, node("Neg", {"x"}, {"e"}), node("ReduceMax", {"e"}, {"m"}, "", {int_attribute("keepdims", 0)}),
            node("Cast", {"i"}, {"f"}, "", {int_attribute("to", kFloat)}), node("Mul", {"m", "f"}, {"p"}),
            node("Cast", {"p"}, {"on"}, "", {int_attribute("to", kBool)})},
           {"i", "go", "t"}, {"on", "u"}));
  EXPECT_EQ(types_of({kEmpty, loop, concat_from("r", "y", 0, 1), node("SequenceLength", {"r"}, {"k"})}, {"y", "k"}),
            "f32[\"extent of loop/Loop\", x_0, 3]; i64[]");
}
TEST(CarriedSequences, OneThatNothingIsAddedToStaysAsItIs) {
  EXPECT_EQ(types_of({node("SequenceConstruct", {"x"}, {"s"}), carrying({node("Identity", {"t"}, {"u"})}),
                      node("SequenceLength", {"r"}, {"k"}), node("SequenceAt", {"r", "zero"}, {"y"})},
                     {"y", "k"}),
            "f32[x_0, 3]; i64[]");
}

// What needs all elements: one tensor that grows.
TEST(CarriedSequences, SomeIterationsAddAnElement) {
  const std::string text =
      print_of({kEmpty,
                carrying({node("Neg", {"x"}, {"e"}), node("Cast", {"i"}, {"odd"}, "", {int_attribute("to", kBool)}),
                          if_node("odd", {"u"}, body({node("SequenceInsert", {"t", "e"}, {"a"})}, {}, {"a"}),
                                  body({node("Identity", {"t"}, {"b"})}, {}, {"b"}))}),
                concat_from("r", "y", 0, 1)},
               {"y"});
  EXPECT_TRUE(has(text, "Loop{carried=1, scans=[], stacks=[]")) << text;
  EXPECT_TRUE(has(text, "f32[0, x_0, 3]")) << text;
}
TEST(CarriedSequences, AnyElementIsGathered) {
  const std::string text =
      print_of({node("SequenceConstruct", {"x"}, {"s"}),
                carrying({node("Gather", {"d", "i"}, {"at_i"}), node("SequenceAt", {"t", "at_i"}, {"a"}),
                          node("Neg", {"a"}, {"e"}), kInsert}),
                concat_from("r", "y", 0, 1)},
               {"y"});
  EXPECT_TRUE(has(text, "Loop{carried=1, scans=[], stacks=[]")) << text;
}
TEST(CarriedSequences, OfUnknownElementsCannotGrow) {
  const std::string read =
      types_of({kEmpty, carrying({node("SequenceAt", {"t", "last"}, {"a"}, "at"), node("Neg", {"a"}, {"e"}), kInsert}),
                concat_from("r", "y", 0)},
               {"y"});
  EXPECT_TRUE(has(read,
                  ": carried sequence 't': node 'at' (SequenceAt): a position chooses among all "
                  "elements; the loop would keep all elements in one tensor, but what type they have is not "
                  "known before it"))
      << read;
  const std::string joined =
      types_of({kEmpty,
                carrying({node("Slice", {"x", "at", "rows"}, {"e"}), node("Unsqueeze", {"i", "at"}, {"rows"}), kInsert,
                          concat_from("t", "all", 0)}),
                concat_from("r", "y", 0)},
               {"y"});
  EXPECT_TRUE(has(joined, "node 'join' (ConcatFromSequence): it reads all elements")) << joined;
  EXPECT_TRUE(has(joined, "of extents that differ from iteration to iteration")) << joined;
}

// Unrolled loops.
TEST(CarriedSequences, FewIterationsStandOneBehindTheOther) {
  const Proto slices =
      carrying({node("Unsqueeze", {"i", "at"}, {"rows"}), node("Slice", {"p", "at", "rows"}, {"e"}), kInsert}, "few");
  const std::string text = print_of({kEmpty, slices, node("SequenceAt", {"r", "last"}, {"y"}),
                                     node("SequenceLength", {"r"}, {"k"}), concat_from("r", "z", 0)},
                                    {"y", "k", "z"});
  EXPECT_FALSE(has(text, "Loop")) << text;
  EXPECT_TRUE(has(text, "Concatenation{axis=0}")) << text;
  EXPECT_TRUE(has(text, "# f32[2, 3]")) << "of iteration 2: " << text;
}
TEST(CarriedSequences, StackedOutputsOfUnrolledLoops) {
  const Proto loop = loop_node(
      {"few", "", "s"}, {"r", "z"},
      body({node("Neg", {"x"}, {"e"}), kInsert, kGoOn, node("Exp", {"x"}, {"f"})}, {"i", "go", "t"}, {"on", "u", "f"}));
  EXPECT_EQ(types_of({kEmpty, loop, node("SequenceLength", {"r"}, {"k"})}, {"z", "k"}), "f32[3, x_0, 3]; i64[]");
}
TEST(CarriedSequences, AConditionThatIsKnownEndsUnrolling) {
  const Proto loop = loop_node(
      {"", "", "s"}, {"r"},
      body({node("Neg", {"x"}, {"e"}), kInsert, node("Less", {"i", "few"}, {"on"})}, {"i", "go", "t"}, {"on", "u"}));
  EXPECT_EQ(types_of({kEmpty, loop, concat_from("r", "y", 0, 1)}, {"y"}), "f32[4, x_0, 3]") << "the fourth says no";
}
/// A condition that holds for longer than a few iterations: they would have no end if it held for ever.
TEST(CarriedSequences, AConditionThatHoldsForLongIsNotUnrolled) {
  const auto with = [](int64_t last) {
    return print_of({kEmpty, node("Constant", {}, {"end"}, "", {int_attribute("value_int", last)}),
                     loop_node({"", "", "s"}, {"r"},
                               body({node("Neg", {"x"}, {"e"}), kInsert, node("Less", {"i", "end"}, {"on"})},
                                    {"i", "go", "t"}, {"on", "u"})),
                     concat_from("r", "y", 0, 1)},
                    {"y"});
  };
  EXPECT_FALSE(has(with(100), "Loop{")) << with(100);
  EXPECT_TRUE(has(with(1000), "Loop{")) << with(1000);
}
TEST(CarriedSequences, StackedOutputsOfNoIterationsHaveTheirShape) {
  const Proto loop = loop_node(
      {"zero", "", "s"}, {"r", "z"},
      body({node("Neg", {"x"}, {"e"}), kInsert, kGoOn, node("Exp", {"x"}, {"f"})}, {"i", "go", "t"}, {"on", "u", "f"}));
  EXPECT_EQ(types_of({kEmpty, loop, node("SequenceLength", {"r"}, {"k"})}, {"z", "k"}), "f32[0, x_0, 3]; i64[]");
}
/// Whether the loop ends is not known behind the first iteration, which has been imported by then: nothing of it stays.
TEST(CarriedSequences, UnrollingThatIsGivenUpLeavesNothing) {
  const Proto loop = loop_node(
      {"few", "", "s"}, {"r"},
      body({node("Exp", {"x"}, {"e"}), node("Mul", {"e", "weight"}, {"f"}), node("SequenceInsert", {"t", "f"}, {"u"}),
            node("Gather", {"d", "one"}, {"m"}), node("Cast", {"m"}, {"on"}, "", {int_attribute("to", kBool)})},
           {"i", "go", "t"}, {"on", "u"}, {floats("weight", {}, {2})}));
  const Imported got =
      import_nodes({kEmpty, loop, node("Add", {"n", "one"}, {"z"}), concat_from("r", "y", 0, 1)}, {"y", "z"});
  const std::string text = text_of(got);
  EXPECT_TRUE(has(text, "z = ElementWise{kind=sum}(n, one)")) << text;
  std::string ops;
  for (int i = 0; i < got.graph.num_nodes(); ++i)
    if (const auto id = static_cast<ir::NodeId>(i); got.graph.alive(id)) ops += str(got.graph.node(id).op.name(), ' ');
  EXPECT_EQ(ops, "Constant Constant Loop ElementWise Identity ") << text;
}
/// Each iteration of an unrolled loop has the same If, which takes a branch because of its rank.
TEST(CarriedSequences, WarningsOfUnrolledLoopsComeOnce) {
  const Proto squeezed = if_node("is_one", {"e"}, body({node("Squeeze", {"x", "at"}, {"a"})}, {}, {"a"}),
                                 body({node("Identity", {"x"}, {"b"})}, {}, {"b"}));
  const auto with = [&](const Proto& on) {
    return import_nodes(
        {kEmpty, node("Shape", {"x"}, {"extents"}), node("Gather", {"extents", "zero"}, {"rows"}),
         node("Equal", {"rows", "one"}, {"is_one"}),
         loop_node({"few", "", "s"}, {"r"},
                   body({squeezed, node("SequenceInsert", {"t", "e"}, {"u"}), node("Gather", {"d", "i"}, {"m"}), on},
                        {"i", "go", "t"}, {"on", "u"})),
         concat_from("r", "y", 0, 1)},
        {"y"});
  };
  const Imported unrolled = with(kGoOn);
  EXPECT_FALSE(has(text_of(unrolled), "Loop{")) << text_of(unrolled);
  ASSERT_EQ(unrolled.report.warnings.size(), 1u);
  EXPECT_TRUE(has(unrolled.report.warnings[0], "takes its then_branch")) << unrolled.report.warnings[0];
  const Imported given_up = with(node("Cast", {"m"}, {"on"}, "", {int_attribute("to", kBool)}));
  EXPECT_TRUE(has(text_of(given_up), "Loop{")) << text_of(given_up);
  EXPECT_EQ(given_up.report.warnings.size(), 1u);
}
TEST(CarriedSequences, UnrollingHasALimit) {
  const auto with = [](int64_t count) {
    return types_of({kEmpty, node("Constant", {}, {"many"}, "", {int_attribute("value_int", count)}), adding("many"),
                     concat_from("r", "y", 0, 1), node("Identity", {"x"}, {"z"})},
                    {"y"});
  };
  EXPECT_EQ(with(1'000'000'000), "f32[1000000000, x_0, 3]");
  const std::string nested = print_of(
      {kEmpty, node("Constant", {}, {"many"}, "", {int_attribute("value_int", 50)}),
       carrying({loop_node({"many", "", "t"}, {"u"},
                           body({node("SequenceInsert", {"t2", "x"}, {"u2"}), node("Identity", {"go2"}, {"on2"})},
                                {"j", "go2", "t2"}, {"on2", "u2"}))},
                "many"),
       concat_from("r", "y", 0, 1)},
      {"y"});
  EXPECT_TRUE(has(nested, "f32[2500, x_0, 3]")) << nested;
}

// Optionals.
TEST(CarriedSequences, OptionalsKeepWhatTheyHave) {
  const auto carried = [](const Proto& inside) {
    return types_of({node("Optional", {"x"}, {"s"}),
                     carrying({node("OptionalGetElement", {"t"}, {"e"}), node("Neg", {"e"}, {"f"}), inside}),
                     node("OptionalGetElement", {"r"}, {"y"})},
                    {"y"});
  };
  EXPECT_EQ(carried(node("Optional", {"f"}, {"u"})), "f32[x_0, 3]");
  EXPECT_TRUE(has(carried(node("Optional", {}, {"u"})),
                  "carried sequence 't': it is an optional that has a tensor before an iteration and an optional "
                  "without an element behind it"));
}

// Elements of different shapes.
const Proto kRows = node("Unsqueeze", {"i", "at"}, {"rows"});
const Proto kSlice = node("Slice", {"p", "at", "rows"}, {"e"});

TEST(CarriedSequences, ElementsThatDifferInOneAxisAreJoined) {
  const std::string text = print_of(
      {kEmpty, carrying({kRows, kSlice, kInsert}), concat_from("r", "y", 0), node("SequenceLength", {"r"}, {"k"})},
      {"y", "k"});
  EXPECT_TRUE(has(text, "Loop{carried=1, scans=[], stacks=[], tests=false, decided=[{output=0, axis=0}]")) << text;
  EXPECT_TRUE(has(text, "k = DimValues{values=[max(\"n[0]\", 0)]")) << text;
}
TEST(CarriedSequences, PiecesOfWhileLoopsAreCounted) {
  const Proto loop = loop_node(
      {"", "c", "s"}, {"r"},
      body({kRows, kSlice, node("SequenceInsert", {"t", "e"}, {"t1"}), node("SequenceInsert", {"t1", "p"}, {"u"}),
            node("Gather", {"d", "i"}, {"m"}), node("Cast", {"m"}, {"on"}, "", {int_attribute("to", kBool)})},
           {"i", "go", "t"}, {"on", "u"}));
  const std::string text =
      print_of({kEmpty, loop, concat_from("r", "y", 0), node("SequenceLength", {"r"}, {"k"})}, {"y", "k"});
  EXPECT_TRUE(has(text, "Loop{carried=1, scans=[], stacks=[1], tests=true")) << text;
  EXPECT_TRUE(has(text, "k = DimValues{values=[2*\"extent of loop")) << text;
}
TEST(CarriedSequences, PiecesOfLoopsInLoops) {
  const Proto inner = loop_node({"n", "", "t"}, {"u"},
                                body({node("Unsqueeze", {"j", "at"}, {"rows"}), kSlice,
                                      node("SequenceInsert", {"t2", "e"}, {"u2"}), node("Identity", {"go2"}, {"on2"})},
                                     {"j", "go2", "t2"}, {"on2", "u2"}));
  const std::string text = print_of({kEmpty, carrying({inner}), concat_from("r", "y", 0)}, {"y"});
  EXPECT_TRUE(has(text, "Loop{carried=1, scans=[], stacks=[]")) << text;
}
/// Elements that are joined cannot be told apart: an unrolled loop has them one by one.
TEST(CarriedSequences, PiecesOfKnownLoopsStayApart) {
  EXPECT_EQ(types_of({kEmpty, node("Constant", {}, {"many"}, "", {int_attribute("value_int", 300)}),
                      carrying({kRows, kSlice, kInsert}, "many"), node("SequenceAt", {"r", "few"}, {"y"})},
                     {"y"}),
            "f32[3, 3]");
}
TEST(CarriedSequences, PiecesSayWhatIsWrong) {
  const auto problem = [](const Proto& reads, std::string_view part) {
    const std::string text = types_of({kEmpty, carrying({kRows, kSlice, kInsert}), reads}, {"y"});
    EXPECT_TRUE(has(text, part)) << text;
  };
  constexpr std::string_view kJoined =
      "a loop has made elements of the sequence that differ in axis 0: they can be "
      "joined along it, and nothing else can be done with them";
  problem(concat_from("r", "y", 0, 1), kJoined);
  problem(concat_from("r", "y", 1), kJoined);
  problem(node("SequenceAt", {"r", "last"}, {"y"}), kJoined);
  problem(node("SequenceErase", {"r"}, {"y"}), kJoined);
  problem(map_node({"r"}, {"y"}, body({node("Neg", {"a"}, {"b"})}, {"a"}, {"b"})), kJoined);
  const Proto square = node("Slice", {"p", "both", "ends"}, {"e"});
  const std::string two = types_of(
      {kEmpty, node("Constant", {}, {"both"}, "", {ints_attribute("value_ints", {0, 0})}),
       carrying({kRows, node("Concat", {"rows", "rows"}, {"ends"}, "", {int_attribute("axis", 0)}), square, kInsert}),
       concat_from("r", "y", 0)},
      {"y"});
  EXPECT_TRUE(has(two, "carried sequence 't': iterations add elements of different shapes (f32[")) << two;
  EXPECT_TRUE(has(two, "they may differ in one axis")) << two;
}

TEST(CarriedSequences, SayWhatIsWrong) {
  const auto problem = [](std::vector<Proto> nodes, std::string_view part) {
    const std::string text = types_of(std::move(nodes), {"y"});
    EXPECT_TRUE(has(text, part)) << text;
  };
  const Proto y = concat_from("r", "y", 0);
  problem({kEmpty,
           carrying({node("SequenceInsert", {"t", "d"}, {"t1"}), node("Slice", {"d", "at", "two"}, {"e"}),
                     node("Constant", {}, {"two"}, "", {ints_attribute("value_ints", {2})}),
                     node("SequenceInsert", {"t1", "e"}, {"u"})}),
           y},
          "the elements that an iteration adds are stacked, which are of different shapes");
  problem({kEmpty, carrying({node("Identity", {"x"}, {"u"})}), y},
          "carried sequence 't': it is a sequence before an iteration and a tensor behind it");
  problem({loop_node({"n", "", "x"}, {"r"},
                     body({node("SequenceConstruct", {"t"}, {"u"}), kGoOn}, {"i", "go", "t"}, {"on", "u"})),
           y},
          "carried value 't' is a tensor before an iteration and a sequence or an optional behind it");
  problem({kEmpty,
           loop_node({"n", "", "s"}, {"r", "z"},
                     body({node("Neg", {"x"}, {"e"}), kInsert, kGoOn}, {"i", "go", "t"}, {"on", "u", "t"})),
           y},
          "output 't' is a sequence or an optional; only tensors can be stacked");
  problem(
      {kEmpty,
       loop_node({"n", "", "s"}, {"r"}, body({kInsert, node("Neg", {"x"}, {"e"})}, {"i", "go", "t"}, {"t", "u"})), y},
      "the condition is a sequence");
  problem({kEmpty, carrying({node("SequenceErase", {"t"}, {"u"})}), y}, "what type they have is not known");
  problem(
      {kEmpty,
       carrying({node("SequenceInsert", {"t", "x"}, {"t1"}), node("SequenceInsert", {"t1", "i"}, {"u"}, "mix")}), y},
      "the sequence would hold f32[x_0, 3] and i64[]; one type is needed");
  const auto mixed_in = [](std::string_view sequence) {  // the loop begins with elements of floats
    return carrying({node("SequenceInsert", {sequence, "i"}, {"u"}, "mix")});
  };
  const std::string_view mix =
      "node 'mix' (SequenceInsert) of i i64[]: the sequence would hold elements of f32 and i64[]";
  problem({node("SequenceConstruct", {"x"}, {"s"}), mixed_in("t"), y}, mix);
  problem({node("SequenceConstruct", {"x"}, {"s"}),
           carrying(
               {loop_node({"n", "", "t"}, {"u"},
                          body({node("SequenceInsert", {"t2", "j"}, {"u2"}, "mix"), node("Identity", {"go2"}, {"on2"})},
                               {"j", "go2", "t2"}, {"on2", "u2"}))}),
           y},
          "the sequence would hold elements of f32 and i64[]");
}

}  // namespace
}  // namespace kiln::onnx
