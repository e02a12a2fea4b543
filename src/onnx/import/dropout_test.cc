// Dropout that trains: which elements fall is numpy's RandomState of the node's seed.
#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

Proto bools(std::string_view name, bool value) {
  return tensor(name, kBool, {}).text(field::tensor::kRawData, std::string(1, value ? '\1' : '\0'));
}

TEST(ImportDropout, DrawsAsNumpyDoes) {
  const std::string text = import_node(node("Dropout", {"x", "r", "t"}, {"y", "m"}, "d", {int_attribute("seed", 0)}),
                                       {value("x", kFloat, {5}), value("r"), value("t", kBool)});
  // numpy.random.RandomState(0).uniform(size=5)
  EXPECT_NE(text.find("f32[5](0.5488135, 0.71518934, 0.60276335, 0.5448832, 0.4236548)"), std::string::npos) << text;
}
TEST(ImportDropout, RoundsDrawsDown) {
  // RandomState(1)'s second draw is 0.720324493442158; the float above it is 0.72032452, the one below 0.72032446.
  const std::string text = import_node(node("Dropout", {"x", "r", "t"}, {"y"}, "d", {int_attribute("seed", 1)}),
                                       {value("x", kFloat, {2}), value("r"), value("t", kBool)});
  EXPECT_NE(text.find("f32[2](0.41702198, 0.72032446)"), std::string::npos) << text;
}
TEST(ImportDropout, ConstantsThatDropNothing) {
  const char* const kIdentity = "y = Identity(x)  # f32[2]\n";
  for (const auto& [ratio, training] : {std::pair(0.5F, false), std::pair(0.0F, true)}) {
    const std::string text = import_node(node("Dropout", {"x", "r", "t"}, {"y"}), {value("x", kFloat, {2})},
                                         {floats("r", {}, {ratio}), bools("t", training)});
    EXPECT_NE(text.find(kIdentity), std::string::npos) << text;
  }
}
TEST(ImportDropout, SaysWhatItNeeds) {
  EXPECT_EQ(
      import_node(node("Dropout", {"x", "", "t"}, {"y"}, "d"), {value("x", kFloat, {2}), value("t", kBool)}),
      "node 'd' (Dropout) of x f32[2], t bool[]: training_mode 't' may be true, and without a seed chance decides "
      "what is dropped; give the node a seed, or make training_mode a constant that is false\n");
  EXPECT_EQ(import_node(node("Dropout", {"x", "", "t"}, {"y"}, "d", {int_attribute("seed", 3)}),
                        {value("x", kFloat, {-1}), value("t", kBool)}),
            "node 'd' (Dropout) of x f32[x_0], t bool[]: x is f32[x_0]; what a seed drops is known of constant extents "
            "only\n");
  EXPECT_EQ(import_node(node("Dropout", {"x", "", "t"}, {"y"}, "d", {int_attribute("seed", -1)}),
                        {value("x", kFloat, {2}), value("t", kBool)}),
            "node 'd' (Dropout) of x f32[2], t bool[]: seed is -1; the generator takes 32 bits without a sign\n");
}

}  // namespace
}  // namespace kiln::onnx
