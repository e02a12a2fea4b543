// If, Loop and Scan whose bodies run: their types as they are imported, and what is said of wrong ones.
#include <gtest/gtest.h>

#include "ir/bodies.h"
#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

Proto untyped(std::string_view name) { return Proto().text(field::value_info::kName, name); }
Proto scalar(std::string_view name, int64_t number) {
  return tensor(name, kInt64, {}).text(field::tensor::kRawData, Proto().append_raw(number).bytes);
}
Proto flag(std::string_view name, bool value) {
  return tensor(name, kBool, {}).text(field::tensor::kRawData, Proto().append_raw(value).bytes);
}
Proto body(const std::vector<Proto>& nodes, Texts inputs, Texts outputs, const std::vector<Proto>& initializers = {}) {
  GraphParts parts{.nodes = nodes, .initializers = initializers};
  for (const auto name : inputs) parts.inputs.push_back(untyped(name));
  for (const auto name : outputs) parts.outputs.push_back(untyped(name));
  return graph(parts, "body");
}

/// Types of the outputs that nodes make, or the problems, without the node's name in front of them.
std::string types(std::vector<Proto> nodes, const std::vector<Proto>& inputs, Texts outputs,
                  std::vector<Proto> constants = {}, int64_t version = 18) {
  GraphParts parts{.nodes = std::move(nodes), .inputs = inputs, .initializers = std::move(constants)};
  for (const auto name : outputs) parts.outputs.push_back(untyped(name));
  const Imported got = import_proto(model(graph(parts), {}, version));
  std::string text;
  if (!got.status) {
    text = text_of(got);
    const size_t end = text.find("]: ");
    return end == std::string::npos ? text : text.substr(end + 3);
  }
  const Status sound = ir::verify(got.graph);
  if (!sound) return sound.error().message;
  for (const ir::Output& output : got.graph.outputs())
    text += str(text.empty() ? "" : "; ", got.graph.type(output.value));
  return text;
}

/// The bounds of the sizes that the graph's only node with bodies decides.
std::string bounds(const std::vector<Proto>& nodes, const std::vector<Proto>& inputs, Texts outputs,
                   const std::vector<Proto>& constants = {}) {
  GraphParts parts{.nodes = nodes, .inputs = inputs, .initializers = constants};
  for (const auto name : outputs) parts.outputs.push_back(untyped(name));
  const Imported got = import_proto(model(graph(parts)));
  if (!got.status) return text_of(got);
  std::string text;
  for (int i = 0; i < got.graph.num_nodes(); ++i)
    if (const auto id = static_cast<ir::NodeId>(i); got.graph.alive(id) && !got.graph.node(id).bodies.empty())
      for (const DecidedSize& size : got.graph.node(id).sizes) text += str(text.empty() ? "" : "; ", size.most);
  return text;
}

const Proto kX = value("x", kFloat, {-1, 3}), kC = value("c", kBool);

// If.
Proto if_node(const Proto& then, const Proto& otherwise, Texts outputs = {"y"}) {
  return node("If", {"c"}, outputs, "if",
              {graph_attribute("then_branch", then), graph_attribute("else_branch", otherwise)});
}
const Proto kNegated = body({node("Neg", {"x"}, {"a"})}, {}, {"a"});
const Proto kTwice = body({node("Concat", {"x", "x"}, {"b"}, "", {int_attribute("axis", 0)})}, {}, {"b"});
std::string of_if(const Proto& then, const Proto& otherwise, Texts outputs = {"y"}) {
  return types({if_node(then, otherwise, outputs)}, {kX, kC}, outputs);
}

TEST(ImportIf, HasTheTypesOfItsBranches) {
  EXPECT_EQ(of_if(kNegated, kNegated), "f32[x_0, 3]");
  EXPECT_EQ(of_if(kNegated, body({}, {}, {"x"})), "f32[x_0, 3]") << "a branch may make nothing";
}
TEST(ImportIf, DecidesExtentsInWhichTheyDiffer) {
  EXPECT_EQ(of_if(kNegated, kTwice), "f32[\"extent of if/If\", 3]");
  EXPECT_EQ(bounds({if_node(kNegated, kTwice)}, {kX, kC}, {"y"}), "2*x_0");
  const Proto wide = body({node("Concat", {"x", "x"}, {"b"}, "", {int_attribute("axis", 1)})}, {}, {"b"});
  EXPECT_EQ(bounds({if_node(kTwice, wide)}, {kX, kC}, {"y"}), "2*x_0; 6");
}
TEST(ImportIf, SingleElementsMayHaveAnyRank) {
  const Proto total = body({node("ReduceSum", {"x"}, {"a"}, "", {int_attribute("keepdims", 0)})}, {}, {"a"});
  const Proto listed = body({node("ReduceSum", {"x"}, {"b"})}, {}, {"b"});
  EXPECT_EQ(of_if(total, listed), "f32[1, 1]");
}
TEST(ImportIf, SaysWhatIsWrong) {
  const Proto whole = body({node("Cast", {"x"}, {"a"}, "", {int_attribute("to", kInt64)})}, {}, {"a"});
  EXPECT_EQ(of_if(kNegated, whole),
            "output 0 is f32[x_0, 3] from the first branch and i64[x_0, 3] from the second; types and ranks must "
            "agree\n");
  const Proto flat =
      body({node("Flatten", {"x"}, {"f"}), node("Unsqueeze", {"f", "at"}, {"a"})}, {}, {"a"}, {i64s("at", {0})});
  EXPECT_NE(of_if(kNegated, flat).find("f32[x_0, 3] from the first branch and f32[1, x_0, 3] from the second"),
            std::string::npos)
      << of_if(kNegated, flat);
  EXPECT_EQ(of_if(body({}, {}, {}), kNegated), "then_branch: it has 0 outputs; the node has 1\n");
  EXPECT_EQ(of_if(kNegated, kNegated, {"y", "z"}), "then_branch: it has 1 outputs; the node has 2\n");
  EXPECT_EQ(of_if(kNegated, body({}, {"x"}, {"x"})),
            "else_branch: it has inputs; a branch takes what it reads from around it\n");
  EXPECT_EQ(types({if_node(kNegated, kNegated)}, {kX, value("c", kBool, {2})}, {"y"}),
            "the condition is bool[2]; one element is needed\n");
  EXPECT_NE(types({if_node(kNegated, kNegated)}, {kX, value("c", kFloat)}, {"y"}).find("one boolean is needed"),
            std::string::npos);
  EXPECT_NE(types({node("If", {"c"}, {"y"}, "if", {graph_attribute("then_branch", kNegated)})}, {kX, kC}, {"y"})
                .find("else_branch"),
            std::string::npos);
}
/// "a" is a value of the first branch only; "nobody" is none at all.
/// Where extents decide, one branch is enough: what is wrong with the other one is told.
TEST(ImportIf, SaysWhyOneBranchIsTaken) {
  const auto warning = [](const Proto& then_node) {
    const Imported got = import_proto(model(graph({{node("Size", {"x"}, {"n"}), node("Greater", {"n", "three"}, {"c"}),
                                                    if_node(body({then_node}, {}, {"a"}), kNegated)},
                                                   {kX},
                                                   {untyped("y")},
                                                   {scalar("three", 3), scalar("two", 2)}})));
    return got.report.warnings.empty() ? text_of(got) : got.report.warnings[0];
  };
  const std::string unknown = warning(node("Foo", {"x"}, {"a"}, "foo"));
  EXPECT_NE(unknown.find("takes its else_branch: the other one cannot be imported (node 'foo' (Foo) of x f32[x_0, 3]: "
                         "Kiln has no importer"),
            std::string::npos)
      << unknown;
  const std::string other_type = warning(node("Add", {"x", "two"}, {"a"}, "sum"));
  EXPECT_NE(other_type.find("(node 'sum' (Add)"), std::string::npos) << other_type;
}
TEST(ImportIf, BranchesReadWhatIsAroundThem) {
  EXPECT_EQ(of_if(kNegated, body({node("Abs", {"a"}, {"b"})}, {}, {"b"})),
            "node 'if' (If): else_branch: node (Abs) that makes 'b': input 'a' is made by node (Neg) that makes 'a' in "
            "then_branch of node 'if' (If), and is known in that body alone\n");
  EXPECT_EQ(
      of_if(kNegated, body({node("Abs", {"nobody"}, {"b"})}, {}, {"b"})),
      "node 'if' (If): else_branch: node (Abs) that makes 'b': input 'nobody' is made by no node, and is no input "
      "or initializer\n");
  const std::string output = of_if(kNegated, body({node("Abs", {"x"}, {"b"})}, {}, {"missing"}));
  EXPECT_NE(output.find("'missing'"), std::string::npos) << output;
}
TEST(ImportIf, OutputsOfBranchesHaveNames) {
  const Proto nameless =
      body({}, {}, {""}, {tensor("", kFloat, {3}).text(field::tensor::kRawData, std::string(12, 0))});
  EXPECT_NE(of_if(kNegated, nameless).find("output 0 of the body has no name"), std::string::npos)
      << of_if(kNegated, nameless);
}
TEST(ImportIf, ValuesInACircleAreNobodys) {
  const Proto circle = body({node("Add", {"x", "q"}, {"p"}), node("Abs", {"p"}, {"q"})}, {}, {"p"});
  EXPECT_EQ(
      of_if(kNegated, circle),
      "node 'if' (If): else_branch: nodes wait for each other in a cycle: node (Add) that makes 'p' -> node (Abs) "
      "that makes 'q' -> node (Add) that makes 'p'\n");
}

// Loop.
const Proto kOn = node("Identity", {"go"}, {"on"});
Proto loop_node(const Proto& graph, Texts inputs, Texts outputs) {
  return node("Loop", inputs, outputs, "loop", {graph_attribute("body", graph)});
}
/// A loop over x whose iterations make v1 of v and t to stack, m times.
std::string of_loop(const std::vector<Proto>& nodes, Texts results, Texts outputs, const std::vector<Proto>& count,
                    const std::vector<Proto>& constants = {}) {
  std::vector<Proto> inputs{kX};
  inputs.insert(inputs.end(), count.begin(), count.end());
  return types({loop_node(body(nodes, {"i", "go", "v"}, results), {"m", "", "x"}, outputs)}, inputs, outputs,
               constants);
}
const Proto kNext = node("Neg", {"v"}, {"v1"}),
            kSlice = node("ReduceMax", {"v"}, {"t"}, "", {int_attribute("keepdims", 0)});
const std::vector<Proto> kCount{value("m", kInt64)};

TEST(ImportLoop, StacksAsManySlicesAsThereAreIterations) {
  EXPECT_EQ(of_loop({kOn, kNext, kSlice}, {"on", "v1", "t"}, {"y", "z"}, {}, {scalar("m", 5)}), "f32[x_0, 3]; f32[5]");
  EXPECT_EQ(of_loop({kOn, kNext, kSlice}, {"on", "v1", "t"}, {"y", "z"}, {}, {scalar("m", -5)}), "f32[x_0, 3]; f32[0]");
  EXPECT_EQ(of_loop({kOn, kNext, kSlice}, {"on", "v1", "t"}, {"y", "z"}, kCount), "f32[x_0, 3]; f32[max(\"m[0]\", 0)]");
}
TEST(ImportLoop, AConditionMakesThemFewer) {
  const std::vector<Proto> nodes{kNext, kSlice, node("Less", {"t", "limit"}, {"on"})};
  const std::vector<Proto> inputs{kX, value("limit", kFloat)};
  const Proto loop = loop_node(body(nodes, {"i", "go", "v"}, {"on", "v1", "t"}), {"m", "", "x"}, {"y", "z"});
  EXPECT_EQ(types({loop}, inputs, {"y", "z"}, {scalar("m", 5)}), "f32[x_0, 3]; f32[\"extent of loop/Loop\"]");
  EXPECT_EQ(bounds({loop}, inputs, {"y", "z"}, {scalar("m", 5)}), "5");
}
TEST(ImportLoop, CarriedExtentsThatChangeHaveBounds) {
  const auto of = [](const Proto& next, const std::vector<Proto>& constants) {
    return bounds({loop_node(body({kOn, next}, {"i", "go", "v"}, {"on", "v1"}), {"m", "", "x"}, {"y"})}, {kX}, {"y"},
                  constants);
  };
  const auto joined = [](Texts parts) { return node("Concat", parts, {"v1"}, "", {int_attribute("axis", 0)}); };
  EXPECT_EQ(of(joined({"v", "w"}), {scalar("m", 5), floats("w", {1, 3}, {1, 2, 3})}), "x_0 + 5");
  EXPECT_EQ(of(joined({"v", "x"}), {scalar("m", 5)}), "6*x_0");
  EXPECT_EQ(of(joined({"v", "v"}), {scalar("m", 3)}), "8*x_0");
  EXPECT_EQ(
      of(node("Slice", {"v", "from", "to"}, {"v1"}), {scalar("m", 5), i64s("from", {1}), i64s("to", {INT32_MAX})}),
      "x_0");
}
TEST(ImportLoop, ASliceToACarriedNumberIsAsLongAsWhatItIsOfAtMost) {
  const Proto cut = node("Slice", {"x", "zero", "k"}, {"v1"}), next = node("Add", {"k", "one"}, {"k1"});
  EXPECT_EQ(bounds({loop_node(body({kOn, cut, next}, {"i", "go", "k", "v"}, {"on", "k1", "v1"}), {"m", "", "n", "x"},
                              {"last", "y"})},
                   {kX, value("n", kInt64, {1})}, {"y"}, {scalar("m", 5), i64s("zero", {0}), i64s("one", {1})}),
            "x_0; \"(unbounded)\"")
      << "of y, and of the number itself";
}
/// p grows by a row each time, q is p's; and two values that change places.
TEST(ImportLoop, CarriedExtentsThatFollowOthers) {
  const Proto grow = node("Concat", {"p", "w"}, {"p1"}, "", {int_attribute("axis", 0)});
  const auto of = [](const std::vector<Proto>& nodes, Texts results) {
    return bounds({loop_node(body(nodes, {"i", "go", "q", "p"}, results), {"m", "", "x", "z"}, {"y", "u"})},
                  {kX, value("z", kFloat, {-1, 3})}, {"y", "u"}, {scalar("m", 5), floats("w", {1, 3}, {1, 2, 3})});
  };
  EXPECT_EQ(of({kOn, grow, node("Neg", {"p"}, {"q1"})}, {"on", "q1", "p1"}), "max(x_0, z_0 + 5); z_0 + 5");
  EXPECT_EQ(of({kOn, node("Neg", {"p"}, {"q1"}), node("Neg", {"q"}, {"p1"})}, {"on", "q1", "p1"}),
            "\"(unbounded)\"; \"(unbounded)\"");
}
TEST(ImportLoop, WhatHasNoBoundGrows) {
  const Proto grows = node("Concat", {"v", "w"}, {"v1"}, "", {int_attribute("axis", 0)});
  const Proto ends = node("Less", {"t", "limit"}, {"on"});
  EXPECT_EQ(bounds({loop_node(body({grows, kSlice, ends}, {"i", "go", "v"}, {"on", "v1"}), {"m", "", "x"}, {"y"})},
                   {kX, value("limit")}, {"y"}, {scalar("m", INT64_MAX), floats("w", {1, 3}, {1, 2, 3})}),
            "\"(unbounded)\"");
  const auto stacked = [](const std::string& first, const std::string& second) {
    return of_loop({node("Less", {first, second}, {"on"}), kNext, kSlice}, {"on", "v1", "t"}, {"y", "z"},
                   {value("k", kInt64)}, {scalar("m", INT64_MAX)});
  };
  EXPECT_EQ(stacked("k", "i"), "f32[x_0, 3]; f32[\"extent of loop/Loop\"]");
  EXPECT_EQ(stacked("i", "k"), "f32[x_0, 3]; f32[\"extent of loop/Loop\"]")
      << "the count's limit is one of the slices, too";
}
/// The number of an iteration is now this and now that: no branch can be left out.
TEST(ImportLoop, IterationsTakeBothBranches) {
  const auto of = [](const Proto& then_node) {
    const Proto choice = node("If", {"first"}, {"v1"}, "choice",
                              {graph_attribute("then_branch", body({then_node}, {}, {"a"})),
                               graph_attribute("else_branch", body({node("Neg", {"v"}, {"b"})}, {}, {"b"}))});
    return of_loop({kOn, node("Equal", {"i", "one"}, {"first"}), choice}, {"on", "v1"}, {"y"}, {},
                   {scalar("m", 5), scalar("one", 1)});
  };
  const std::string unknown = of(node("Foo", {"v"}, {"a"}, "foo"));
  EXPECT_NE(unknown.find("Kiln has no importer for operator Foo"), std::string::npos) << unknown;
  EXPECT_EQ(of(node("Exp", {"v"}, {"a"})), "f32[x_0, 3]");
}
TEST(ImportLoop, SaysThatNothingEndsIt) {
  const Proto endless = body({kOn, kNext}, {"i", "go", "v"}, {"on", "v1"});
  const auto of = [&](Texts inputs, const std::vector<Proto>& constants) {
    return types({loop_node(endless, inputs, {"y"})}, {kX, value("c", kBool)}, {"y"}, constants);
  };
  const std::string none = "nothing ends the loop: it has no count, and its condition stays true\n";
  EXPECT_EQ(of({"", "", "x"}, {}), none);
  EXPECT_EQ(of({"", "c", "x"}, {}), none) << "true at first, it stays so";
  EXPECT_EQ(of({"m", "", "x"}, {scalar("m", INT64_MAX)}),
            "nothing ends the loop: its count is 9223372036854775807, and its condition stays true\n");
  EXPECT_EQ(of({"m", "", "x"}, {scalar("m", INT32_MAX)}), "f32[x_0, 3]") << "these do come to an end";
  EXPECT_EQ(of({"m", "", "x"}, {scalar("m", INT64_MIN)}), "f32[x_0, 3]") << "no iteration runs";
  EXPECT_EQ(types({loop_node(body({node("Identity", {"yes"}, {"on"}), kNext}, {"i", "go", "v"}, {"on", "v1"}),
                             {"", "", "x"}, {"y"})},
                  {kX}, {"y"}, {flag("yes", true)}),
            none);
  EXPECT_EQ(of({"", "never", "x"}, {flag("never", false)}), "f32[x_0, 3]") << "it does not begin";
}
/// A condition of captures, constants and carried values that come back as they were is the same in each iteration.
TEST(ImportLoop, SaysThatItsConditionStays) {
  const auto of = [](const std::vector<Proto>& nodes, Texts inputs, const std::vector<Proto>& constants = {}) {
    std::vector<Proto> all = nodes;
    all.push_back(kNext);
    return types({loop_node(body(all, {"i", "go", "v"}, {"on", "v1"}), inputs, {"y"})},
                 {kX, value("c", kBool), value("q", kFloat)}, {"y"}, constants);
  };
  const std::string stays = "and its condition is the same in each iteration\n";
  const std::string none = "nothing ends the loop: it has no count, " + stays;
  const Proto captured = node("Identity", {"c"}, {"on"});
  EXPECT_EQ(of({captured}, {"", "c", "x"}), none);
  EXPECT_EQ(of({captured}, {"", "", "x"}), none);
  EXPECT_EQ(of({node("Less", {"q", "zero"}, {"l"}), node("And", {"l", "go"}, {"on"})}, {"", "", "x"},
               {floats("zero", {}, {0})}),
            none);
  EXPECT_EQ(of({captured}, {"m", "", "x"}, {scalar("m", INT64_MAX)}),
            "nothing ends the loop: it has a count of 9223372036854775807, " + stays);
  EXPECT_EQ(of({captured}, {"m", "", "x"}, {scalar("m", 5)}), "f32[x_0, 3]");
  EXPECT_EQ(of({captured}, {"", "never", "x"}, {flag("never", false)}), "f32[x_0, 3]") << "it does not begin";
  EXPECT_EQ(of({node("Bernoulli", {"q"}, {"r"}), node("Cast", {"r"}, {"on"}, "", {int_attribute("to", kBool)})},
               {"", "", "x"}),
            "f32[x_0, 3]")
      << "each iteration draws anew";
  const auto carries = [](const std::string& after) {
    return types({loop_node(body({kNext, node("Add", {"k", "one"}, {"k1"}), node("Less", {"k", "n"}, {"on"}),
                                  node("Identity", {"k"}, {"same"})},
                                 {"i", "go", "v", "k"}, {"on", "v1", after}),
                            {"", "", "x", "zero"}, {"y"})},
                 {kX, value("n", kInt64)}, {"y"}, {scalar("zero", 0), scalar("one", 1)});
  };
  EXPECT_EQ(carries("same"), none);
  EXPECT_EQ(carries("k1"), "f32[x_0, 3]");
}
TEST(ImportLoop, SaysWhatIsWrong) {
  const auto of = [](const std::vector<Proto>& nodes, Texts results, Texts outputs) {
    return of_loop(nodes, results, outputs, {}, {scalar("m", 5)});
  };
  EXPECT_NE(of({kOn, node("Cast", {"v"}, {"v1"}, "", {int_attribute("to", kInt64)})}, {"on", "v1"}, {"y"})
                .find("carried value 'v': it is f32[x_0, 3] before an iteration and i64[x_0, 3] behind it; its type "
                      "and rank must stay"),
            std::string::npos);
  EXPECT_NE(of({kOn, kSlice}, {"on", "t"}, {"y"})
                .find("carried value 'v': it is f32[x_0, 3] before an iteration and f32[] behind it; its type and rank "
                      "must stay"),
            std::string::npos);
  EXPECT_EQ(of({kOn, kNext}, {"on"}, {"y"}), "the body has 1 outputs; 2 are needed at least\n");
  EXPECT_EQ(of({kOn, kNext}, {"on", "v1"}, {"y", "z"}), "the node has 2 outputs; its body gives 1\n");
  EXPECT_EQ(types({loop_node(body({kOn}, {"i", "go"}, {"on"}), {"m", "", "x"}, {"y"})}, {kX}, {"y"}, {scalar("m", 5)}),
            "the body has 2 inputs; 3 are needed for 1 carried values\n");
  EXPECT_EQ(of_loop({kOn, kNext}, {"on", "v1"}, {"y"}, {}, {i64s("m", {5, 6})}),
            "the trip count is i64[2]; one element is needed\n");
  EXPECT_NE(of_loop({kOn, kNext}, {"on", "v1"}, {"y"}, {value("m", kFloat)}).find("i32 or i64"), std::string::npos);
  EXPECT_NE(
      of({kNext, node("Identity", {"v"}, {"on"})}, {"on", "v1"}, {"y"}).find("the body's condition is f32[x_0, 3]"),
      std::string::npos);
  const std::string inner = of({kOn, kNext, node("Unheard", {"v"}, {"u"}, "inside")}, {"on", "u"}, {"y"});
  EXPECT_NE(inner.find("body: node 'inside' (Unheard)"), std::string::npos) << inner;
}

// Scan.
std::string of_scan(std::initializer_list<Proto> attributes, const std::vector<Proto>& inputs, Texts names,
                    int64_t version = 18) {
  const Proto iteration = body({node("Add", {"s", "e"}, {"s1"}), node("Neg", {"s1"}, {"t"})}, {"s", "e"}, {"s1", "t"});
  Proto scan = node("Scan", names, {"y", "z"}, "scan", {graph_attribute("body", iteration)});
  for (const Proto& a : attributes) scan.message(field::node::kAttribute, a);
  return types({scan}, inputs, {"y", "z"}, {}, version);
}
const std::vector<Proto> kState{value("s0", kFloat, {4}), value("q", kFloat, {4, -1, 4})};

TEST(ImportScan, GoesAlongAnyAxis) {
  const Proto one = int_attribute("num_scan_inputs", 1);
  const std::vector<Proto> rows{value("s0", kFloat, {4}), value("q", kFloat, {-1, 4})};
  EXPECT_EQ(of_scan({one}, rows, {"s0", "q"}), "f32[4]; f32[q_0, 4]");
  const std::vector<Proto> columns{value("s0", kFloat, {4}), value("q", kFloat, {4, -1})};
  EXPECT_EQ(of_scan({one, ints_attribute("scan_input_axes", {-1}), ints_attribute("scan_output_axes", {1})}, columns,
                    {"s0", "q"}),
            "f32[4]; f32[4, q_1]");
  EXPECT_EQ(of_scan({one, ints_attribute("scan_input_directions", {1})}, rows, {"s0", "q"}), "f32[4]; f32[q_0, 4]");
}
TEST(ImportScan, SaysWhatIsWrong) {
  const Proto one = int_attribute("num_scan_inputs", 1);
  const auto of = [&](std::initializer_list<Proto> attributes) { return of_scan(attributes, kState, {"s0", "q"}); };
  EXPECT_NE(of({}).find("num_scan_inputs"), std::string::npos);
  EXPECT_EQ(of({int_attribute("num_scan_inputs", 0)}), "num_scan_inputs is 0; the node has 2 inputs\n");
  EXPECT_EQ(of({int_attribute("num_scan_inputs", 3)}), "num_scan_inputs is 3; the node has 2 inputs\n");
  EXPECT_NE(of({one, ints_attribute("scan_input_axes", {3})}).find("axis 3 is outside [-3, 3)"), std::string::npos)
      << of({one, ints_attribute("scan_input_axes", {3})});
  EXPECT_EQ(of({one, ints_attribute("scan_input_axes", {0, 0})}), "scan_input_axes has 2 elements; 1 are needed\n");
  EXPECT_EQ(of({one, ints_attribute("scan_input_directions", {2})}),
            "scan_input_directions has 2; 0 and 1 are directions\n");
  EXPECT_EQ(of({one, ints_attribute("scan_output_directions", {0, 1})}),
            "scan_output_directions has 2 elements; 1 are needed\n");
  EXPECT_EQ(of_scan({one}, {value("s0", kFloat, {4}), value("q", kFloat, {-1, 4}), value("r", kFloat, {4})},
                    {"s0", "q", "r"}),
            "the body has 2 inputs; the node has 3\n");
  EXPECT_NE(of_scan({one}, {value("s0", kFloat, {4}), value("q", kFloat)}, {"s0", "q"}), "");
}
TEST(ImportScan, LengthsMustAgree) {
  const Proto iteration = body({node("Add", {"a", "b"}, {"t"})}, {"a", "b"}, {"t"});
  const auto of = [&](int64_t first, int64_t second) {
    return types({node("Scan", {"p", "q"}, {"z"}, "scan",
                       {graph_attribute("body", iteration), int_attribute("num_scan_inputs", 2)})},
                 {value("p", kFloat, {first}), value("q", kFloat, {second})}, {"z"});
  };
  EXPECT_EQ(of(4, 4), "f32[4]");
  EXPECT_EQ(of(4, 5), "extents of the axes that are scanned, inputs 0 and 1: 4 and 5 differ\n");
}
TEST(ImportScan, ReadsTheDirectionsOfABatch) {
  const Proto iteration = body({node("Add", {"s", "e"}, {"s1"}), node("Neg", {"s1"}, {"t"})}, {"s", "e"}, {"s1", "t"});
  const Proto scan = node(
      "Scan", {"", "s0", "q"}, {"y", "z"}, "scan",
      {graph_attribute("body", iteration), int_attribute("num_scan_inputs", 1), ints_attribute("directions", {1})});
  const GraphParts parts{.nodes = {scan},
                         .inputs = {value("s0", kFloat, {2, 4}), value("q", kFloat, {2, 7, 4})},
                         .outputs = {untyped("y"), untyped("z")}};
  const Imported got = import_proto(model(graph(parts), {}, 8));
  EXPECT_TRUE(got.status) << text_of(got);
  EXPECT_EQ(got.report.warnings, std::vector<std::string>{});
}
TEST(ImportScan, OfOpset8HasABatch) {
  const Proto one = int_attribute("num_scan_inputs", 1);
  const std::vector<Proto> single{value("s0", kFloat, {1, 4}), value("q", kFloat, {1, 7, 4})};
  EXPECT_EQ(of_scan({one}, single, {"", "s0", "q"}, 8), "f32[1, 4]; f32[1, 7, 4]");
  EXPECT_EQ(of_scan({one, ints_attribute("directions", {1})}, single, {"", "s0", "q"}, 8), "f32[1, 4]; f32[1, 7, 4]");
  const std::vector<Proto> lengths{value("l", kInt64, {1}), single[0], single[1]};
  EXPECT_EQ(of_scan({one}, lengths, {"l", "s0", "q"}, 8), "f32[1, 4]; f32[1, 7, 4]");
  const std::vector<Proto> two_lengths{value("l", kInt64, {2}), single[0], single[1]};
  EXPECT_EQ(of_scan({one}, two_lengths, {"l", "s0", "q"}, 8), "sequence_lens has 2 elements; the batch is 1\n");
  const std::vector<Proto> two{value("s0", kFloat, {2, 4}), value("q", kFloat, {2, 7, 4})};
  EXPECT_EQ(of_scan({one}, two, {"", "s0", "q"}, 8), "f32[2, 4]; f32[2, 7, 4]");
  const std::vector<Proto> any{value("l", kInt64, {-1}), value("s0", kFloat, {-1, 4}), value("q", kFloat, {-1, -1, 4})};
  EXPECT_EQ(of_scan({one}, any, {"l", "s0", "q"}, 8), "f32[l_0, 4]; f32[l_0, q_1, 4]");
  const std::vector<Proto> uneven{value("s0", kFloat, {2, 4}), value("q", kFloat, {3, 7, 4})};
  EXPECT_EQ(of_scan({one}, uneven, {"", "s0", "q"}, 8),
            "extents of the axes that are scanned, inputs 0 and 1: 2 and 3 differ\n");
  EXPECT_EQ(of_scan({one}, {value("s0", kFloat, {}), two[1]}, {"", "s0", "q"}, 8),
            "input 1 is f32[]; it has no axis of a batch\n");
}
TEST(ImportScan, SequencesOfOpset8HaveOneLength) {  // also where sequence_lens takes the same number of each
  const Proto iteration = body({node("Add", {"a", "b"}, {"t"})}, {"a", "b"}, {"t"});
  const auto of = [&](int64_t batch, int64_t first, int64_t second) {
    return types({node("Scan", {"l", "p", "q"}, {"z"}, "scan",
                       {graph_attribute("body", iteration), int_attribute("num_scan_inputs", 2)})},
                 {value("l", kInt64, {batch}), value("p", kFloat, {batch, first}), value("q", kFloat, {batch, second})},
                 {"z"}, {}, 8);
  };
  for (const int64_t batch : {1, 2}) {
    EXPECT_EQ(of(batch, 4, 4), str("f32[", batch, ", 4]"));
    const std::string error = of(batch, 4, 5);
    EXPECT_NE(error.find("the slices of inputs 1 and 2 of node 'scan' (Scan) are 4 and 5; they must be equal"),
              std::string::npos)
        << error;
  }
}

}  // namespace
}  // namespace kiln::onnx
