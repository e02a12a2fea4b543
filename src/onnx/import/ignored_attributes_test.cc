// Warnings of attributes that change nothing.
#include "onnx/import/ignored_attributes.h"

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

Proto layer_norm(std::string_view x, std::string_view y, std::string_view name, int64_t stash_type) {
  return node("LayerNormalization", {x, "scale"}, {y}, name, {int_attribute("stash_type", stash_type)});
}
const std::vector<Proto> kNormInputs{value("x", kFloat, {2, 3}), value("scale", kFloat, {3})};

TEST(UnreadAttributes, AreNamedOnceForAnOperator) {
  EXPECT_EQ(
      warnings_of({layer_norm("x", "h", "first", 10), layer_norm("h", "y", "second", 10)}, kNormInputs),
      Warnings{"node 'first' (LayerNormalization): attribute 'stash_type' is ignored, since Kiln does not read it "
               "here; it is 10, the default is 1"});
  const Proto conv = node("Conv", {"x", "w"}, {"y"}, "c",
                          {text_attribute("auto_pad", "SAME_UPPER"), ints_attribute("pads", {0, 1, 0, 1})});
  EXPECT_EQ(
      warnings_of({conv}, {value("x", kFloat, {1, 1, 4, 4}), value("w", kFloat, {1, 1, 3, 3})}),
      Warnings{"node 'c' (Conv): attribute 'pads' is ignored, since Kiln does not read it here; it is [0, 1, 0, 1]"});
}
TEST(UnreadAttributes, OfTheDefaultValueOrOfNoEffectAreNot) {
  EXPECT_EQ(warnings_of({layer_norm("x", "y", "n", 1)}, kNormInputs), Warnings{});
  const Proto conv = node("Conv", {"x", "w"}, {"y"}, "c",
                          {text_attribute("auto_pad", "SAME_UPPER"), ints_attribute("pads", {0, 0, 0, 0})});
  EXPECT_EQ(warnings_of({conv}, {value("x", kFloat, {1, 1, 4, 4}), value("w", kFloat, {1, 1, 3, 3})}), Warnings{});
  EXPECT_EQ(warnings_of({node("Dropout", {"x"}, {"y"}, "d", {int_attribute("seed", 3)})}), Warnings{});
}
TEST(UnreadAttributes, OfBodiesAreToldOnce) {
  const Proto normed =
      body({node("Identity", {"k"}, {"go"}), layer_norm("s", "t", "n", 10)}, {"i", "k", "s"}, {"go", "t"});
  const Imported got =
      import_nodes({node("Gather", {"x", "zero"}, {"scale"}), loop_node({"n", "c", "x"}, {"y"}, normed)}, {"y"});
  EXPECT_TRUE(got.status) << text_of(got);
  EXPECT_EQ(got.report.warnings,
            Warnings{"node 'n' (LayerNormalization): attribute 'stash_type' is ignored, since Kiln does not read it "
                     "here; it is 10, the default is 1"});
}
TEST(UnreadAttributes, AreThoseThatNobodyAskedFor) {
  NodeDef def{.name = "n",
              .op_type = "Op",
              .domain = "",
              .overload = "",
              .inputs = {},
              .outputs = {},
              .attributes = {},
              .metadata = {}};
  for (const std::string_view name : {"a", "b", "c", "d"}) def.attributes.push_back({.name = name, .ref_name = ""});
  NodeReader reader(def);
  EXPECT_EQ(reader.find("b"), &def.attributes[1]);
  EXPECT_FALSE(reader.get_int("c", 1));  // of another kind, which is an error
  reader.pass_over("d");
  reader.pass_over("absent");
  ASSERT_EQ(reader.unread().size(), 1u);
  EXPECT_EQ(reader.unread()[0].get().name, "a");
}

}  // namespace
}  // namespace kiln::onnx
