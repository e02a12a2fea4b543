// Warnings of attributes that an operator does not have.
#include "onnx/import/unknown_attributes.h"

#include <gtest/gtest.h>

#include "onnx/test_bodies.h"
#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Warnings = std::vector<std::string>;

Warnings warnings_of(const std::vector<Proto>& nodes, std::vector<Proto> inputs = {value("x", kFloat, {2, 3})}) {
  const Imported got = import_proto(model(graph({nodes, std::move(inputs), {value("y")}}), {}, 20));
  EXPECT_TRUE(got.status) << text_of(got);
  return got.report.warnings;
}

TEST(UnknownAttributes, AreNamedWithTheirNode) {
  EXPECT_EQ(
      warnings_of({node("LeakyRelu", {"x"}, {"y"}, "leaky", {float_attribute("slope", 2)})}),
      Warnings{"node 'leaky' (LeakyRelu): attribute 'slope' is ignored, since the operator has no such; it has alpha"});
  EXPECT_EQ(
      warnings_of({node("Relu", {"x"}, {"h"}, "", {int_attribute("max", 6)}),
                   node("Transpose", {"h"}, {"y"}, "turn", {int_attribute("per", 1), int_attribute("axes", 0)})}),
      (Warnings{"node (Relu) that makes 'h': attribute 'max' is ignored, since the operator has no such; it has none",
                "node 'turn' (Transpose): attribute 'per' is ignored, since the operator has no such; it has perm",
                "node 'turn' (Transpose): attribute 'axes' is ignored, since the operator has no such; it has perm"}));
}
TEST(UnknownAttributes, OfAllVersionsAreKnown) {
  // Opset 20 takes axes as an input; a file with the attribute means what older ones mean, or is told so otherwise.
  EXPECT_EQ(warnings_of({node("Softmax", {"x"}, {"y"}, "s", {int_attribute("axis", 0)})}), Warnings{});
  EXPECT_EQ(warnings_of({node("BatchNormalization", {"x", "a", "a", "a", "a"}, {"y"}, "b",
                              {float_attribute("momentum", 0.5F)})},
                        {value("x", kFloat, {2, 3}), value("a", kFloat, {3})}),
            Warnings{});
}
TEST(UnknownAttributes, AreToldOnceForABody) {
  const Proto clipped =
      body({node("Identity", {"k"}, {"go"}), node("Relu", {"s"}, {"t"}, "r", {int_attribute("max", 6)})},
           {"i", "k", "s"}, {"go", "t"});
  const Imported got = import_nodes({loop_node({"n", "c", "x"}, {"y"}, clipped)}, {"y"});
  EXPECT_TRUE(got.status) << text_of(got);
  EXPECT_EQ(got.report.warnings,
            Warnings{"node 'r' (Relu): attribute 'max' is ignored, since the operator has no such; it has none"});
}

}  // namespace
}  // namespace kiln::onnx
