// Shape inputs of which the profile has no values: what else limits the shapes that they make.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "api/onnx/bodies_program.h"

namespace kiln::api {
namespace {

using namespace bodies;

Floats counted(size_t count) {
  Floats result(count);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

TEST(OpenShapeInputs, KIsLimitedByItsAxis) {
  Program p(model(graph({{node("TopK", {"x", "k"}, {"v", "at"}, "top")},
                         {value("x", kFloat, {2, 6}), value("k", kInt64, {1})},
                         {value("v", kFloat, {2, -1}), value("at", kInt64, {2, -1})},
                         {}})));
  p.feed("x", {2, 6}, counted(12));
  for (const auto& [k, v] : {std::pair(1, Floats{5, 11}), {0, {}}, {6, {5, 4, 3, 2, 1, 0, 11, 10, 9, 8, 7, 6}}}) {
    EXPECT_EQ(p.feed("k", {1}, Numbers{k}).run(), "") << k;
    EXPECT_EQ(p.of<float>("v"), v) << k;
    EXPECT_EQ(p.shape("at"), (Numbers{2, k}));
  }
  p.feed("k", {1}, Numbers{3});
  ASSERT_EQ(p.context->inferShapes(0, nullptr), 0);
  EXPECT_EQ(p.context->getMaxOutputSize("v"), 2 * 3 * 4);
  for (const int64_t k : {7, -1}) {
    p.feed("k", {1}, Numbers{k});
    EXPECT_EQ(p.context->inferShapes(0, nullptr), -1) << k;
    EXPECT_NE(p.logger.errors.back().find("within axis 1 of x f32[2, 6]"), std::string::npos) << p.logger.errors.back();
  }
}
/// Nothing limits one of the extents alone: their product is the volume of x.
TEST(OpenShapeInputs, AReshapeIsLimitedByItsInput) {
  Program p(model(graph({{node("Reshape", {"x", "s"}, {"r"}, "shape"), node("Neg", {"r"}, {"y"}),
                          node("Transpose", {"r"}, {"t"}, "", {ints_attribute("perm", {1, 0})}),
                          node("Softmax", {"r"}, {"rows"}, "", {int_attribute("axis", 1)}),
                          node("ReduceSum", {"rows"}, {"num_rows"}, "", {int_attribute("keepdims", 0)})},
                         {value("x", kFloat, {-1, -1}), value("s", kInt64, {2})},
                         {value("y", kFloat, {-1, -1}), value("t", kFloat, {-1, -1}), value("num_rows", kFloat, {})},
                         {}})),
            {{"x", {1, 1}, {8, 8}}});
  p.feed("x", {4, 6}, counted(24));
  Floats negative = counted(24);
  for (float& each : negative) each = -each;
  for (const auto& [s, shape] : {std::pair(Numbers{2, -1}, Numbers{2, 12}), {{-1, 3}, {8, 3}}, {{24, 1}, {24, 1}}}) {
    EXPECT_EQ(p.feed("s", {2}, s).run(), "");
    EXPECT_EQ(p.of<float>("y"), negative);
    EXPECT_EQ(p.shape("y"), shape);
    EXPECT_EQ(p.shape("t"), (Numbers{shape[1], shape[0]}));
    EXPECT_NEAR(p.of<float>("num_rows").at(0), static_cast<float>(shape[0]), 1e-4);
  }
  EXPECT_EQ(p.context->getMaxOutputSize("y"), 4 * 6 * 4);
  p.feed("s", {2}, Numbers{5, 5});
  EXPECT_NE(p.run().find("element counts of reshape of f32"), std::string::npos);
}
TEST(OpenShapeInputs, KOfData) {
  Program p(model(graph(
      {{node("Cast", {"d"}, {"k"}, "", {int_attribute("to", kInt64)}), node("TopK", {"x", "k"}, {"v", "at"}, "top")},
       {value("x", kFloat, {6}), value("d", kFloat, {1})},
       {value("v", kFloat, {-1})},
       {}})));
  p.feed("x", {6}, counted(6));
  for (const auto& [k, v] : {std::pair(2, Floats{5, 4}), {6, {5, 4, 3, 2, 1, 0}}, {0, {}}}) {
    EXPECT_EQ(p.feed("d", {1}, Floats{static_cast<float>(k)}).run(), "") << k;
    EXPECT_EQ(p.of<float>("v"), v) << k;
  }
  const std::string error = p.feed("d", {1}, Floats{7}).run();
  EXPECT_NE(error.find("within axis 0 of x f32[6]"), std::string::npos) << error;
}
TEST(OpenShapeInputs, AStepIsLimitedByItsAxis) {
  Program p(model(graph({{node("Slice", {"x", "start", "end", "axes", "step"}, {"y"}, "every")},
                         {value("x", kFloat, {6}), value("step", kInt64, {1})},
                         {value("y", kFloat, {-1})},
                         {i64s("start", {0}), i64s("end", {6}), i64s("axes", {0})}})));
  p.feed("x", {6}, counted(6));
  for (const auto& [step, y] : {std::pair(1, counted(6)), {4, {0, 4}}, {100, {0}}, {-1, {}}}) {
    EXPECT_EQ(p.feed("step", {1}, Numbers{step}).run(), "") << step;
    EXPECT_EQ(p.of<float>("y"), y) << step;
  }
  p.feed("step", {1}, Numbers{0});
  EXPECT_EQ(p.context->inferShapes(0, nullptr), -1);
  EXPECT_NE(p.logger.errors.back().find("'every' (Slice): no step is 0"), std::string::npos) << p.logger.errors.back();
}
TEST(OpenShapeInputs, ALoopThatAnIntegerEnds) {
  const Proto body = loop_body(
      {node("Add", {"v", "v"}, {"v1"}), node("Less", {"i", "limit"}, {"on"}), node("Identity", {"v1"}, {"s"})}, {"v"},
      {"on", "v1", "s"});
  Program p(model(graph({{loop_node({"", "", "x"}, {"last", "rows"}, body)},
                         {value("x", kFloat, {1}), value("limit", kInt64)},
                         {value("last", kFloat, {1}), value("rows", kFloat, {-1, 1})},
                         {}})));
  p.feed("x", {1}, Floats{1});
  for (const int64_t limit : {0, 3, -5, 100, 1}) {
    EXPECT_EQ(p.feed("limit", {}, Numbers{limit}).run(), "") << limit;
    Floats rows;
    for (int64_t i = 0; i <= std::max<int64_t>(limit, 0); ++i)
      rows.push_back(std::ldexp(1.0F, static_cast<int>(i) + 1));
    EXPECT_EQ(p.of<float>("rows"), rows) << limit;
    EXPECT_EQ(p.of<float>("last"), Floats{rows.back()}) << limit;
  }
}

/// Slices are as long as their iteration's number, so one iteration is the most that can be stacked.
TEST(OpenShapeInputs, SlicesOfTheIterationWithoutIterations) {
  const Proto body = loop_body({kOn, node("Unsqueeze", {"i", "zeros"}, {"k"}),
                                node("Slice", {"z", "zeros", "k"}, {"s"}), node("Identity", {"v"}, {"v1"})},
                               {"v"}, {"on", "v1", "s"});
  Program p(model(graph({{loop_node({"m", "", "x"}, {"last", "rows"}, body)},
                         {value("x", kFloat, {1}), value("z", kFloat, {6}), value("m", kInt64)},
                         {value("rows", kFloat, {-1, -1})},
                         {i64s("zeros", {0})}})),
            {{"m", {0}, {3}}});
  p.feed("x", {1}, Floats{1}).feed("z", {6}, counted(6));
  for (const int64_t trips : {0, 1, 0}) {
    EXPECT_EQ(p.feed("m", {}, Numbers{trips}).run(), "") << trips;
    EXPECT_EQ(p.shape("rows"), (Numbers{trips, 0}));
  }
}

}  // namespace
}  // namespace kiln::api
