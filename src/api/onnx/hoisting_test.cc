// What a loop's iterations compute alike is computed once, in front of the loop.
#include <gtest/gtest.h>

#include "api/onnx/bodies_program.h"
#include "plan/reader.h"

namespace kiln::api {
namespace {

using namespace bodies;

/// The ops of a block's steps.
std::string ops_of(const plan::Block& block) {
  std::string text;
  for (const plan::Step& step : block.steps) text += str(text.empty() ? "" : "; ", step.info.ops);
  return text;
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

const Proto kNothing = floats("nothing", {2, 2}, {0, 0, 0, 0});

/// m iterations of v = v + Tanh(x * w), where x and w are inputs.
Proto adds_a_product() {
  const Proto body =
      loop_body({kOn, node("MatMul", {"x", "w"}, {"xw"}), node("Tanh", {"xw"}, {"t"}), node("Add", {"v", "t"}, {"v1"})},
                {"v"}, {"on", "v1"});
  return model(graph({{loop_node({"m", "", "nothing"}, {"y"}, body)},
                      {value("x", kFloat, {2, 3}), value("w", kFloat, {3, 2}), value("m", kInt64)},
                      {value("y", kFloat, {2, 2})},
                      {kNothing}}));
}
TEST(Hoisting, AProductOfCapturesIsComputedOnce) {
  const std::vector<std::byte> bytes = build(adds_a_product(), {});
  const auto plan = plan::read_plan(bytes);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_TRUE(contains(ops_of((*plan)->profiles[0]), "MatrixMultiply")) << ops_of((*plan)->profiles[0]);
  ASSERT_EQ((*plan)->bodies.size(), 1u);
  EXPECT_EQ(ops_of((*plan)->bodies[0]), "ElementWise");
  Program p(bytes);
  p.feed("x", {2, 3}, Floats{1, 0, 2, -1, 1, 0}).feed("w", {3, 2}, Floats{0.5, 0, 1, 0.25, 0, -1});
  const Floats once{std::tanh(0.5F), std::tanh(-2.0F), std::tanh(0.5F), std::tanh(0.25F)};
  for (const int64_t count : {3, 0, 1}) {
    p.feed("m", {}, Numbers{count});
    EXPECT_EQ(p.run(), "");
    for (size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(p.of<float>("y")[i], once[i] * static_cast<float>(count), 1e-5F) << count;
  }
}

/// An index of data may be wrong where no iteration runs.
TEST(Hoisting, WhatMayFailStays) {
  const Proto body = loop_body(
      {kOn, node("Gather", {"x", "at"}, {"row"}, "pick"), node("Neg", {"row"}, {"n"}), node("Add", {"v", "n"}, {"v1"})},
      {"v"}, {"on", "v1"});
  Program p(model(graph(
      {{node("Cast", {"f"}, {"at"}, "", {int_attribute("to", kInt64)}), loop_node({"m", "", "start"}, {"y"}, body)},
       {value("x", kFloat, {2, 3}), value("f", kFloat), value("m", kInt64)},
       {value("y", kFloat, {3})},
       {floats("start", {3}, {1, 1, 1})}})));
  p.feed("x", {2, 3}, Floats{1, 2, 3, 4, 5, 6}).feed("f", {}, Floats{7}).feed("m", {}, Numbers{0});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), (Floats{1, 1, 1}));
  p.feed("m", {}, Numbers{1});
  const std::string error = p.run();
  EXPECT_TRUE(says_that_an_index_is_outside(error, "pick", 7)) << error;
  p.feed("f", {}, Floats{1});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), (Floats{-3, -4, -5}));
}

/// Both results are read in the loop, and one is made of the other.
TEST(Hoisting, AResultMadeOfAnother) {
  const Proto body = loop_body({kOn, node("Exp", {"x"}, {"e"}), node("Neg", {"e"}, {"n"}),
                                node("Mul", {"v", "e"}, {"p"}), node("Add", {"p", "n"}, {"v1"})},
                               {"v"}, {"on", "v1"});
  const std::vector<std::byte> bytes = build(model(graph({{loop_node({"m", "", "one"}, {"y"}, body)},
                                                          {value("x", kFloat, {2}), value("m", kInt64)},
                                                          {value("y", kFloat, {2})},
                                                          {floats("one", {2}, {1, 1})}})),
                                             {});
  const auto plan = plan::read_plan(bytes);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_FALSE(contains(ops_of((*plan)->bodies[0]), "Unary")) << ops_of((*plan)->bodies[0]);
  Program p(bytes);
  p.feed("x", {2}, Floats{0, 1}).feed("m", {}, Numbers{2});
  EXPECT_EQ(p.run(), "");
  const float e = std::exp(1.0F);  // 1, then 0 of each, then -e
  EXPECT_NEAR(p.of<float>("y")[0], -1, 1e-5F);
  EXPECT_NEAR(p.of<float>("y")[1], -e, 1e-4F);
}

/// What the inner loop captures of the network moves out of both loops, what it captures of the outer body out of one.
TEST(Hoisting, GoesThroughLoopsInLoops) {
  GraphParts inner{.nodes = {node("Identity", {"go2"}, {"on2"}), node("MatMul", {"x", "w"}, {"xw"}),
                             node("MatMul", {"v", "xw"}, {"vxw"}), node("Add", {"u", "vxw"}, {"u1"})},
                   .inputs = {value("i2", kInt64), value("go2", kBool), value_of_any("u")},
                   .outputs = {value("on2", kBool), value_of_any("u1")}};
  const Proto outer =
      loop_body({kOn, loop_node({"three", "", "nothing"}, {"v1"}, graph(inner, "inner"))}, {"v"}, {"on", "v1"});
  const std::vector<std::byte> bytes =
      build(model(graph({{loop_node({"m", "", "one"}, {"y"}, outer)},
                         {value("x", kFloat, {2, 3}), value("w", kFloat, {3, 2}), value("m", kInt64)},
                         {value("y", kFloat, {2, 2})},
                         {kNothing, floats("one", {2, 2}, {1, 0, 0, 1}), scalar("three", 3)}})),
            {});
  const auto plan = plan::read_plan(bytes);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ((*plan)->bodies.size(), 2u);
  EXPECT_TRUE(contains(ops_of((*plan)->profiles[0]), "MatrixMultiply")) << ops_of((*plan)->profiles[0]);
  EXPECT_TRUE(contains(ops_of((*plan)->bodies[0]), "MatrixMultiply")) << ops_of((*plan)->bodies[0]);
  EXPECT_EQ(ops_of((*plan)->bodies[1]), "ElementWise");
  Program p(bytes);
  p.feed("x", {2, 3}, Floats{1, 0, 1, 0, 1, 0}).feed("w", {3, 2}, Floats{1, 0, 0, 2, 0, 0}).feed("m", {}, Numbers{2});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), (Floats{9, 0, 0, 36}));
}

/// A value that every iteration hands on as it is needs no place in the loop.
TEST(Hoisting, CarriedValuesThatNeverChangeAreCaptured) {
  const Proto body = loop_body({kOn, node("Exp", {"w"}, {"e"}), node("Mul", {"v", "e"}, {"v1"}),
                                node("Identity", {"w"}, {"w1"}), node("Identity", {"v1"}, {"s"})},
                               {"w", "v"}, {"on", "w1", "v1", "s"});
  const std::vector<std::byte> bytes =
      build(model(graph({{loop_node({"m", "", "x", "one"}, {"w_end", "y", "all"}, body), node("Neg", {"w_end"}, {"z"})},
                         {value("x", kFloat, {2}), value("m", kInt64)},
                         {value("z", kFloat, {2}), value("y", kFloat, {2}), value("all", kFloat, {-1, 2})},
                         {floats("one", {2}, {1, 1})}})),
            {{"m", {0}, {5}}});
  const auto plan = plan::read_plan(bytes);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ((*plan)->bodies.size(), 1u);
  EXPECT_FALSE(contains(ops_of((*plan)->bodies[0]), "Unary")) << ops_of((*plan)->bodies[0]);
  Program p(bytes);
  p.feed("x", {2}, Floats{0, 1}).feed("m", {}, Numbers{2});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("z"), (Floats{0, -1}));
  const float e = std::exp(1.0F);
  const Floats y = p.of<float>("y"), all = p.of<float>("all");
  EXPECT_NEAR(y[1], e * e, 1e-4F);
  EXPECT_EQ(all.size(), 4u);
  EXPECT_NEAR(all[1], e, 1e-5F);
  EXPECT_NEAR(all[3], e * e, 1e-4F);
}

}  // namespace
}  // namespace kiln::api
