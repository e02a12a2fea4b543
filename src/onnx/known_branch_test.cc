// An If whose condition is known while the model is imported.
#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

Proto if_node(std::string_view condition, std::string_view y, const Proto& then, const Proto& otherwise) {
  return node("If", {condition}, {y}, "if",
              {graph_attribute("then_branch", then), graph_attribute("else_branch", otherwise)});
}
Proto branch(const std::vector<Proto>& nodes, std::string_view y, const std::vector<Proto>& initializers = {}) {
  return graph({nodes, {}, {value(y)}, initializers}, "branch");
}

/// The graph that TorchScript's exporter writes for a squeeze of axis 1 of x.
std::string squeezed(std::initializer_list<int64_t> extents) {
  const Imported got = import_proto(model(
      graph({{node("Shape", {"x"}, {"s"}), node("Gather", {"s", "one"}, {"e"}), node("Equal", {"e", "one"}, {"is_one"}),
              if_node("is_one", "y", branch({node("Squeeze", {"x", "one"}, {"squeezed"})}, "squeezed"),
                      branch({node("Identity", {"x"}, {"kept"})}, "kept"))},
             {value("x", kFloat, extents)},
             {value("y")},
             {i64s("one", {1})}})));
  return got.status ? str(got.graph.type(got.graph.outputs()[0].value)) : text_of(got);
}

TEST(KnownBranch, FollowsFromExtents) {
  EXPECT_EQ(squeezed({-1, 1, 4}), "f32[x_0, 4]");
  EXPECT_EQ(squeezed({-1, 3, 4}), "f32[x_0, 3, 4]");
}
TEST(KnownBranch, IsAssumedWhereTheOtherOneHasAnotherRank) {
  EXPECT_EQ(squeezed({-1, -1, 4}), "f32[x_0, 4]") << "and it is checked that axis 1 is 1 when shapes are bound";
}

/// An If by the extent of x f32[n, m] where `by_extent`, or by its largest element.
std::string by(bool by_extent, const Proto& then, const Proto& otherwise) {
  const std::vector<Proto> of_extent{node("Shape", {"x"}, {"s"}), node("Gather", {"s", "one"}, {"e"}),
                                     node("Equal", {"e", "one"}, {"c"})};
  const std::vector<Proto> of_data{node("ReduceMax", {"x"}, {"m"}, "", {int_attribute("keepdims", 0)}),
                                   node("Greater", {"m", "zero"}, {"c"})};
  std::vector<Proto> nodes = by_extent ? of_extent : of_data;
  nodes.push_back(if_node("c", "y", then, otherwise));
  return text_of(import_proto(model(graph({nodes,
                                           {value("x", kFloat, {-1, -1})},
                                           {value("y")},
                                           {i64s("one", {1}), i64s("flat", {-1}), floats("zero", {}, {0})}}))));
}
const Proto kFlat = branch({node("Reshape", {"x", "flat"}, {"a"})}, "a");
const Proto kFirst = branch(
    {node("ReduceMin", {"x"}, {"least"}, "", {int_attribute("keepdims", 0)}), node("Reshape", {"least", "one"}, {"b"})},
    "b");
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(KnownBranch, IsNotAssumedWhereDataDecides) {
  const std::string text = by(false, kFlat, branch({node("Abs", {"x"}, {"b"})}, "b"));
  EXPECT_TRUE(contains(text, "types and ranks must agree")) << text;
}
TEST(KnownBranch, IsNotAssumedWhereAListHasOneElement) {
  for (const bool by_extent : {false, true}) {
    const std::string text = by(by_extent, kFlat, kFirst);
    EXPECT_TRUE(contains(text, "If{") && !contains(text, "Assertion")) << text;
  }
}
/// What no shape says may be numbers that the host reads.
TEST(KnownBranch, IsNotAssumedWhereTheOtherOneNeedsNumbersOfData) {
  const Proto filled = branch({node("ReduceMax", {"x"}, {"most"}, "", {int_attribute("keepdims", 0)}),
                               node("Cast", {"most"}, {"n"}, "", {int_attribute("to", kInt64)}),
                               node("Reshape", {"n", "one"}, {"list"}), node("ConstantOfShape", {"list"}, {"zeros"})},
                              "zeros");
  const std::string text = by(true, kFlat, filled);
  EXPECT_TRUE(contains(text, "If{") && contains(text, "ReadValues") && !contains(text, "Assertion")) << text;
}

/// x, of the rank that a branch gives it that is taken for want of another choice, and what stands beside the If.
Imported assumed(const std::vector<Proto>& branch_nodes, std::string_view result, const std::vector<Proto>& beside) {
  std::vector<Proto> nodes{node("Shape", {"x"}, {"s"}), node("Gather", {"s", "one"}, {"e"}),
                           node("Equal", {"e", "one"}, {"is_one"})};
  nodes.insert(nodes.end(), beside.begin(), beside.end());
  nodes.push_back(if_node("is_one", "y", branch(branch_nodes, result), branch({node("Identity", {"x"}, {"k"})}, "k")));
  return import_proto(model(
      graph({nodes,
             {value("x", kFloat, {-1, -1, 4}), value("limit", kFloat)},
             {value("y"), value("z")},
             {i64s("one", {1}), floats("w", {4}, {1, 2, 3, 4}), floats("from", {}, {0}), floats("step", {}, {1})}})));
}
TEST(KnownBranch, AssumedOnesReadTheWeightsAroundThem) {
  const std::string text = text_of(assumed({node("Squeeze", {"x", "one"}, {"q"}), node("Mul", {"q", "w"}, {"v"})}, "v",
                                           {node("Mul", {"x", "w"}, {"z"})}));
  const size_t first = text.find("f32[4](1, 2, 3, 4)");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("f32[4](1, 2, 3, 4)", first + 1), std::string::npos) << "a copy: " << text;
}
/// A branch that is taken makes a shape tensor of an input and attributes of constants, as its nodes do without an If.
TEST(KnownBranch, AssumedOnesReadElements) {
  const Imported got = assumed({node("Range", {"from", "limit", "step"}, {"v"})}, "v", {node("Neg", {"x"}, {"z"})});
  ASSERT_TRUE(got.status) << text_of(got);
  EXPECT_TRUE(ir::verify(got.graph));
  EXPECT_TRUE(got.graph.type(got.graph.inputs()[1]).values);
  EXPECT_EQ(str(got.graph.type(got.graph.outputs()[0].value)), "f32[max(\"limit[0]\", 0)]");
  int num_read = 0;
  for (int i = 0; i < got.graph.num_nodes(); ++i)
    if (const auto* constant = got.graph.node(static_cast<ir::NodeId>(i)).op.as<ops::Constant>())
      num_read += constant->is_read && is_float(constant->value.dtype());
  EXPECT_EQ(num_read, 2) << "from and step";
}
/// Branches of one another, which use the same names and initializers of their own.
TEST(KnownBranch, BranchesInBranches) {
  const auto doubled = [](std::string_view x, float by) {
    return branch({node("Mul", {x, "by"}, {"v"})}, "v", {floats("by", {1}, {by})});
  };
  const Proto inner = branch({if_node("no", "w", doubled("x", 2), doubled("x", 3))}, "w");
  const std::string text = text_of(import_proto(
      model(graph({{node("Equal", {"one", "one"}, {"yes"}), node("Less", {"one", "one"}, {"no"}),
                    if_node("yes", "a", inner, doubled("x", 4)), if_node("yes", "y", doubled("a", 5), inner)},
                   {value("x", kFloat, {2})},
                   {value("y")},
                   {i64s("one", {1})}}))));
  EXPECT_NE(text.find("f32[1](3)"), std::string::npos) << text;
  EXPECT_NE(text.find("f32[1](5)"), std::string::npos) << text;
  EXPECT_EQ(text.find("f32[1](2)"), std::string::npos) << text;
  EXPECT_EQ(text.find("f32[1](4)"), std::string::npos) << text;
}
/// A branch names a weight and a result as the graph around it names others; behind it the names mean what they did.
TEST(KnownBranch, NamesOfABranchEndWithIt) {
  const Proto inside =
      branch({node("Mul", {"x", "by"}, {"v"}), node("Neg", {"v"}, {"w"})}, "w", {floats("by", {1}, {100})});
  const std::string text = text_of(import_proto(model(
      graph({{node("Equal", {"one", "one"}, {"yes"}), node("Abs", {"x"}, {"v"}), if_node("yes", "a", inside, inside),
              node("Add", {"v", "a"}, {"b"}), node("Mul", {"b", "by"}, {"y"})},
             {value("x", kFloat, {2})},
             {value("y")},
             {i64s("one", {1}), floats("by", {1}, {3})}}))));
  EXPECT_NE(text.find("f32[1](100)"), std::string::npos) << text;
  EXPECT_NE(text.find("f32[1](3)"), std::string::npos) << text;
  EXPECT_NE(text.find("abs"), std::string::npos) << text;
  EXPECT_NE(text.find("sum}(v%3, w)"), std::string::npos) << text;
}
TEST(KnownBranch, ProblemsInsideAreTheIfs) {
  const Imported got = import_proto(
      model(graph({{node("Equal", {"one", "one"}, {"yes"}),
                    if_node("yes", "y", branch({node("Unheard", {"x"}, {"v"}, "inside")}, "v"), branch({}, "x"))},
                   {value("x", kFloat, {2})},
                   {value("y")},
                   {i64s("one", {1})}})));
  ASSERT_EQ(got.report.errors.size(), 1U);
  EXPECT_EQ(got.report.errors[0].node_name, "if");
  EXPECT_NE(got.report.errors[0].message.find("node 'inside' (Unheard)"), std::string::npos)
      << got.report.errors[0].message;
}
TEST(KnownBranch, RefusesWhatNoBranchIs) {
  const auto problem_with = [](const Proto& then) {
    return text_of(
        import_proto(model(graph({{node("Equal", {"one", "one"}, {"yes"}), if_node("yes", "y", then, branch({}, "x"))},
                                  {value("x", kFloat, {2})},
                                  {value("y")},
                                  {i64s("one", {1})}}))));
  };
  EXPECT_NE(problem_with(graph({{}, {}, {}, {}})).find("the branch has 0 outputs; the node has 1"), std::string::npos);
  const Proto with_input = graph({{}, {value("v", kFloat, {2})}, {value("v", kFloat, {2})}, {}});
  EXPECT_NE(problem_with(with_input).find("the branch has inputs"), std::string::npos) << problem_with(with_input);
}

}  // namespace
}  // namespace kiln::onnx
