#include <gtest/gtest.h>

#include <map>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

std::string groups(const Proto& message) {
  const auto bytes = std::make_shared<std::string>(message.bytes);
  const auto read = read_model(std::as_bytes(std::span(*bytes)), {"", bytes});
  if (!read) return read.error().message;
  std::string text;
  for (const Subgraph& part : query_support(*read).subgraphs) text += str(part.nodes);
  return text;
}

TEST(QuerySupport, CutsAtWhatIsMissing) {
  EXPECT_EQ(
      groups(model(graph({{node("Relu", {"x"}, {"a"}), node("Abs", {"a"}, {"b"}), node("ImageDecoder", {"b"}, {"c"}),
                           node("Cast", {"c"}, {"d"}, "", {int_attribute("to", 1)}), node("Relu", {"d"}, {"y"})},
                          {value("x", kFloat, {2})},
                          {value("y")},
                          {}}))),
      "[0, 1][3, 4]");
}

TEST(QuerySupport, WholeModelsAreOneGroup) {
  EXPECT_EQ(
      groups(model(graph(
          {{node("Abs", {"a"}, {"y"}), node("Relu", {"x"}, {"a"})}, {value("x", kFloat, {2})}, {value("y")}, {}}))),
      "[1, 0]");  // in the order in which they run
}

TEST(QuerySupport, ACallIsSupportedIfItsNodesAre) {
  const auto local = [](std::string_view name, const Proto& inner) {
    return function(name, {"a"}, {"b"}, {inner, node("Relu", {"t"}, {"b"})})
        .message(field::function::kOpsetImport, opset("", 18));
  };
  const std::vector<Proto> functions{local("Good", node("Abs", {"a"}, {"t"})),
                                     local("Bad", node("ImageDecoder", {"a"}, {"t"}))};
  EXPECT_EQ(
      groups(model(graph({{node("Good", {"x"}, {"m"}, "g", {}, "local"), node("Bad", {"m"}, {"y"}, "b", {}, "local")},
                          {value("x", kFloat, {2})},
                          {value("y")},
                          {}}),
                   functions)),
      "[0]");
}

TEST(QuerySupport, ProblemsAreOfNodesAsTheModelHasThem) {
  const Proto call = function("Two", {"a"}, {"b"}, {node("Relu", {"a"}, {"t"}), node("ImageDecoder", {"t"}, {"b"})})
                         .message(field::function::kOpsetImport, opset("", 18));
  const Proto message = model(graph({{node("ImageDecoder", {"m"}, {"z"}, "late"), node("Abs", {"x"}, {"m"}),
                                      node("Two", {"m"}, {"y"}, "call", {}, "local")},
                                     {value("x", kFloat, {2})},
                                     {value("y"), value("z")},
                                     {}}),
                              {call});
  const auto bytes = std::make_shared<std::string>(message.bytes);
  const auto read = read_model(std::as_bytes(std::span(*bytes)), {"", bytes});
  ASSERT_TRUE(read) << read.error().message;
  ir::Graph graph;
  ImportReport imported;
  EXPECT_FALSE(import_model(*read, graph, {}, imported));
  for (const ImportReport& report : {query_support(*read).report, imported}) {
    std::map<std::string, int> nodes;
    for (const Problem& problem : report.errors) nodes[problem.node_name] = problem.node;
    EXPECT_EQ(nodes["late"], 0);
    nodes.erase("late");
    ASSERT_EQ(nodes.size(), 1u);
    EXPECT_EQ(nodes.begin()->second, 2) << nodes.begin()->first;
  }
}

/// As a tool does that asks again about each part that is not supported, until there is none: Polygraphy.
TEST(QuerySupport, ANodeThatCannotBeImportedIsNoPart) {
  EXPECT_EQ(groups(model(graph({{node("ImageDecoder", {"x"}, {"y"})}, {value("x", kFloat, {2})}, {value("y")}, {}}))),
            "");
}

/// An input of a type that no network has: the node that reads it cannot be imported; what follows it is not known.
TEST(QuerySupport, CutsBehindAnInputThatIsMissing) {
  constexpr int64_t kString = 8;
  EXPECT_EQ(groups(model(graph({{node("Relu", {"x"}, {"a"}), node("Identity", {"s"}, {"t"}), node("Abs", {"a"}, {"y"})},
                                {value("x", kFloat, {2}), value("s", kString, {2})},
                                {value("y"), value("t")},
                                {}}))),
            "[0][2]");
}

}  // namespace
}  // namespace kiln::onnx
