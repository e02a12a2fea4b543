#include "onnx/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "onnx/node_reader.h"
#include "onnx/reader.h"
#include "onnx/test_model.h"

namespace kiln::onnx {
namespace {

using test::Proto;

CheckedModel check(const Proto& proto) {
  const auto kept = std::make_shared<const Proto>(proto);  // what comes back looks at its bytes
  const auto model = read_model(test::bytes_of(*kept), {.folder = "", .owner = kept});
  EXPECT_TRUE(model) << model.error().message;
  return check_model(*model);
}
std::string problems(const Proto& proto) {
  std::string out;
  for (const ModelProblem& problem : check(proto).problems) out += problem.message + '\n';
  return out;
}
Proto main_graph(const std::vector<Proto>& nodes) {
  return test::graph({.nodes = nodes, .inputs = {test::value("x")}, .outputs = {test::value("y")}});
}
std::string op_types(const GraphDef& graph) {
  std::string out;
  for (const NodeDef& node : graph.nodes) out += node.op_type;
  return out;
}

TEST(Check, ASortedModelStaysTheSame) {
  const Proto proto = test::model(main_graph({test::node("A", {"x"}, {"t"}), test::node("B", {"t", ""}, {"y"})}));
  const auto model = *read_model(test::bytes_of(proto));
  const CheckedModel checked = check_model(model);
  EXPECT_TRUE(checked.problems.empty());
  EXPECT_TRUE(checked.warnings.empty());
  EXPECT_EQ(checked.model, model);
}

TEST(Check, SortsNodesAndBodies) {
  const Proto body = test::graph(
      {.nodes = {test::node("Q", {"p"}, {"q"}), test::node("P", {"t"}, {"p"})}, .outputs = {test::value("q")}});
  // If waits for T only through its body.
  const CheckedModel checked = check(test::model(main_graph(
      {test::node("If", {"x"}, {"y"}, "if", {test::graph_attribute("then", body)}), test::node("T", {"x"}, {"t"})})));
  EXPECT_TRUE(checked.problems.empty());
  EXPECT_EQ(op_types(checked.model->graph), "TIf");
  EXPECT_EQ(op_types(**NodeReader(checked.model->graph.nodes.at(1)).get_graph("then")), "PQ");
}

TEST(Check, SortsAnyOrder) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Proto> nodes;
    for (int i = 0; i < 20; ++i) {
      const std::string a = i ? str("v", random() % i) : "x", b = i ? str("v", random() % i) : "x";
      nodes.push_back(test::node("Add", {a, b}, {i == 19 ? "y" : str("v", i)}));
    }
    std::shuffle(nodes.begin(), nodes.end(), random);
    const CheckedModel checked = check(test::model(main_graph(nodes)));
    ASSERT_TRUE(checked.problems.empty()) << "seed " << seed << ": " << checked.problems[0].message;
    std::vector<std::string_view> known{"x"};
    ASSERT_EQ(checked.model->graph.nodes.size(), 20u);
    for (const NodeDef& node : checked.model->graph.nodes) {
      for (const auto input : node.inputs)
        EXPECT_NE(std::find(known.begin(), known.end(), input), known.end()) << "seed " << seed << ": " << input;
      known.push_back(node.outputs[0]);
    }
    EXPECT_EQ(check_model(checked.model).model, checked.model) << "seed " << seed;
  }
}

TEST(Check, NamesTheNodesOfACycle) {
  EXPECT_EQ(problems(test::model(main_graph({test::node("Neg", {"x"}, {"y"}, "fine"),
                                             test::node("A", {"q"}, {"p"}, "a"), test::node("B", {"p"}, {"q"}, "b")}))),
            "nodes wait for each other in a cycle: node 'a' (A) -> node 'b' (B) -> node 'a' (A)\n");
  EXPECT_EQ(problems(test::model(main_graph({test::node("Neg", {"y"}, {"y"}, "own")}))),
            "nodes wait for each other in a cycle: node 'own' (Neg) -> node 'own' (Neg)\n");
}

TEST(Check, ListsAllProblemsOfNames) {
  const Proto graph =
      test::graph({.nodes = {test::node("A", {"nowhere"}, {"t"}, "a"), test::node("B", {"x"}, {"t"}, "b")},
                   .inputs = {test::value("x"), test::value("x")},
                   .outputs = {test::value("z")},
                   .initializers = {test::tensor("w", 1, {}), test::tensor("w", 1, {})}});
  EXPECT_EQ(problems(test::model(graph)),
            "there are two inputs 'x'\n"
            "there are two initializers 'w'\n"
            "node 'b' (B): output 't' is the name of another value too\n"
            "node 'a' (A): input 'nowhere' is made by no node, and is no input or initializer\n"
            "output 'z' is made by no node, and is no input or initializer\n");
}

TEST(Check, BodiesSeeTheGraphAroundButNotTheReverse) {
  const Proto body = test::graph(
      {.nodes = {test::node("P", {"x"}, {"p"}), test::node("Q", {"lost"}, {"q"}, "q")}, .outputs = {test::value("p")}});
  EXPECT_EQ(
      problems(test::model(main_graph({test::node("If", {"p"}, {"y"}, "if", {test::graph_attribute("then", body)})}))),
      "node 'if' (If): input 'p' is made by node (P) that makes 'p' in then of node 'if' (If), and is known in that "
      "body "
      "alone\n"
      "node 'if' (If): then: node 'q' (Q): input 'lost' is made by no node, and is no input or initializer\n");
}

TEST(Check, SaysWhichBodyMakesAValueThatIsUnknownHere) {
  const auto branch = [](const Proto& node, std::string_view output) {
    return test::graph({.nodes = {node}, .outputs = {test::value(output)}});
  };
  const Proto fork = test::node("If", {"x"}, {"y"}, "if",
                                {test::graph_attribute("then", branch(test::node("P", {"x"}, {"p"}, "made"), "p")),
                                 test::graph_attribute("else", branch(test::node("Q", {"p"}, {"q"}, "read"), "q"))});
  // The nodes are sorted: the problem is the first one's of those that the checked model has.
  const Proto last = test::node("Neg", {"y"}, {"z"}, "last");
  const CheckedModel checked = check(
      test::model(test::graph({.nodes = {last, fork}, .inputs = {test::value("x")}, .outputs = {test::value("z")}})));
  ASSERT_EQ(checked.problems.size(), 1U);
  EXPECT_EQ(
      checked.problems[0].message,
      "node 'if' (If): else: node 'read' (Q): input 'p' is made by node 'made' (P) in then of node 'if' (If), and "
      "is known in that body alone");
  EXPECT_EQ(checked.problems[0].node, 0);
  EXPECT_EQ(checked.model->graph.nodes[0].name, "if");
}

TEST(Check, AnInitializerMayBeAnInputsDefault) {
  const Proto graph = test::graph({.nodes = {test::node("A", {"x"}, {"y"})},
                                   .inputs = {test::value("x")},
                                   .outputs = {test::value("y")},
                                   .initializers = {test::tensor("x", 1, {})}});
  EXPECT_EQ(problems(test::model(graph)), "");
}

TEST(Check, Attributes) {
  const Proto node =
      test::node("A", {"x"}, {"y"}, "a",
                 {test::int_attribute("k", 1), test::int_attribute("k", 2), test::ref_attribute("axis", 2, "ax")});
  EXPECT_EQ(problems(test::model(main_graph({node}))),
            "node 'a' (A): it has two attributes 'k'\n"
            "node 'a' (A): attribute 'axis' refers to 'ax' of a function, but the node is in none\n");
}

Proto versioned(int64_t ir, std::string_view domain, int64_t opset, std::string_view op = "A") {
  return Proto()
      .integer(field::model::kIrVersion, ir)
      .message(field::model::kOpsetImport, test::opset(domain, opset))
      .message(field::model::kGraph, main_graph({test::node(op, {"x"}, {"y"})}));
}

TEST(Check, Versions) {
  EXPECT_EQ(problems(versioned(8, "", 1, "Not")), "");  // the same in every version
  EXPECT_EQ(problems(versioned(3, "", 7)), "");
  EXPECT_EQ(problems(versioned(13, "ai.onnx", 24)), "");
  EXPECT_EQ(problems(versioned(2, "", 7)),
            "IR version 2 is below 3, the oldest that Kiln reads; save the model again "
            "with a newer onnx\n");
  EXPECT_EQ(problems(versioned(8, "", 6)),
            "opset 6 is below 7, the oldest that Kiln reads; convert the model with onnx.version_converter\n");
  EXPECT_EQ(problems(versioned(8, "com.acme", 1)),
            "the model uses operators of domain 'ai.onnx', but imports no operator set of it\n");
  const CheckedModel newer = check(versioned(14, "", 25));
  EXPECT_TRUE(newer.problems.empty());
  ASSERT_EQ(newer.warnings.size(), 2u);
  EXPECT_EQ(newer.warnings[0],
            "IR version 14 is above 13, the newest that Kiln knows; what it does not know is ignored");
  EXPECT_EQ(newer.warnings[1], "opset 25 is above 24, the newest that Kiln knows; operators are taken as in opset 24");
}

}  // namespace
}  // namespace kiln::onnx
