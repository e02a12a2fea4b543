// Dropout that trains: which elements fall is numpy's RandomState of the node's seed.
#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

Proto bools(std::string_view name, bool value) {
  return tensor(name, kBool, {}).text(field::tensor::kRawData, std::string(1, value ? '\1' : '\0'));
}

std::string drawn(int64_t seed, int64_t count) {
  return import_node(node("Dropout", {"x", "r", "t"}, {"y"}, "d", {int_attribute("seed", seed)}),
                     {value("x", kFloat, {count}), value("r"), value("t", kBool)});
}
TEST(ImportDropout, DrawsAsNumpyDoes) {
  // numpy.random.RandomState(seed).uniform(size=count), rounded down to floats; some of the nearest ones are above.
  const std::string zero = drawn(0, 5), one = drawn(1, 2);
  EXPECT_NE(zero.find("f32[5](0.5488134622573853, 0.7151893377304077, 0.6027633547782898, 0.544883131980896, "
                      "0.42365479469299316)"),
            std::string::npos)
      << zero;
  EXPECT_NE(one.find("f32[2](0.4170219898223877, 0.7203244566917419)"), std::string::npos) << one;
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
            "node 'd' (Dropout) of x f32[x_0], t bool[]: x is f32[x_0]; a seed decides what is dropped only where all "
            "extents are constants\n");
  EXPECT_EQ(import_node(node("Dropout", {"x", "", "t"}, {"y"}, "d", {int_attribute("seed", -1)}),
                        {value("x", kFloat, {2}), value("t", kBool)}),
            "node 'd' (Dropout) of x f32[2], t bool[]: seed is -1; the generator takes 32 bits without a sign\n");
}

}  // namespace
}  // namespace kiln::onnx
