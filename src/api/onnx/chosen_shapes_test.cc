// Shapes that the host computes for ops of ONNX models, as programs run them.
#include <gtest/gtest.h>

#include "api/onnx/bodies_program.h"

namespace kiln::api {
namespace {

using namespace bodies;

TEST(ChosenShapes, AnExpandRefusesExtentsThatDoNotBroadcast) {
  Program p(model(graph({{node("Expand", {"x", "s"}, {"y"}, "wide")},
                         {value("x", kFloat, {4, 1}), value("s", kInt64, {2})},
                         {value("y", kFloat, {-1, -1})}})),
            {{"s", {0, 0}, {5, 5}}});
  p.feed("x", {4, 1}, Floats{1, 2, 3, 4});
  for (const int64_t rows : {1, 4}) {
    p.feed("s", {2}, Numbers{rows, 2});
    EXPECT_EQ(p.run(), "");
    EXPECT_EQ(p.shape("y"), (Numbers{4, 2}));
    EXPECT_EQ(p.of<float>("y"), (Floats{1, 1, 2, 2, 3, 3, 4, 4})) << rows;
  }
  for (const int64_t rows : {0, 2, 5}) {
    p.feed("s", {2}, Numbers{rows, 2});
    const std::string error = p.run();
    EXPECT_NE(error.find("is 1 or 4 (Expand 'wide': axis 0 of [4, 1]"), std::string::npos) << error;
    EXPECT_NE(error.find(str("the left side is ", rows, ", the right side 4")), std::string::npos) << error;
  }
}

/// `dims`, the shape of y, is what a branch gives where x has more than four elements, or else what the other one does.
Proto by_a_branch(const Proto& makes_y, const std::vector<Proto>& then, const std::vector<Proto>& otherwise,
                  Texts condition = {"n", "four"}) {
  return model(graph({{node("Shape", {"x"}, {"n"}), node("Greater", condition, {"c"}),
                       if_node({"dims"}, branch(then, {"chosen"}), branch(otherwise, {"chosen"})), makes_y},
                      {value("x", kFloat, {-1}), value("k", kInt64, {1})},
                      {value_of_any("y")},
                      {i64s("zero", {0}), i64s("one", {1}), i64s("two", {2}), i64s("four", {4}), i64s("rest", {-1}),
                       floats("number", {1}, {7})}}));
}
Proto joined(Texts parts) { return node("Concat", parts, {"chosen"}, "", {int_attribute("axis", 0)}); }
const Proto kReshape = node("Reshape", {"x", "dims"}, {"y"}, "formed");
const Proto kRepeat = node("Expand", {"number", "dims"}, {"y"}, "filled");
const std::vector<Range> kRanges{{"x", {2}, {8}}};

TEST(ChosenShapes, AreKnownWhereShapesDecideTheBranch) {
  Program p(
      by_a_branch(kReshape, {node("Div", {"n", "two"}, {"half"}), joined({"two", "half"})}, {joined({"n", "one"})}),
      {{"x", {2}, {8}}});
  ASSERT_TRUE(p.context);
  for (const int64_t n : {2, 4, 6, 8}) {
    p.feed("x", {n}, Floats(static_cast<size_t>(n), 1.0F)).feed("k", {1}, Numbers{0});
    const Numbers expected = n > 4 ? Numbers{2, n / 2} : Numbers{n, 1};
    EXPECT_EQ(list(p.context->getTensorShape("y")), expected) << "before it runs";
    EXPECT_EQ(p.run(), "");
    EXPECT_EQ(p.shape("y"), expected);
  }
}
TEST(ChosenShapes, ABranchThatIsNotTakenMayDivideByZero) {
  Program p(by_a_branch(kReshape, {node("Div", {"n", "k"}, {"q"}), joined({"q", "rest"})}, {joined({"one", "n"})},
                        {"k", "zero"}),
            kRanges);
  p.feed("x", {8}, Floats(8, 1.0F));
  for (const int64_t k : {0, 4, 0, 2}) {
    p.feed("k", {1}, Numbers{k});
    EXPECT_EQ(p.run(), "");
    EXPECT_EQ(p.shape("y"), (k > 0 ? Numbers{8 / k, k} : Numbers{1, 8}));
  }
}
TEST(ChosenShapes, WhatABranchAssumesIsCheckedWhereItIsTaken) {
  Program p(by_a_branch(kRepeat, {node("Reshape", {"x", "four"}, {"r"}, "to four"), node("Shape", {"r"}, {"chosen"})},
                        {node("Shape", {"x"}, {"chosen"})}, {"k", "zero"}),
            kRanges);
  p.feed("x", {4}, Floats(4, 1.0F)).feed("k", {1}, Numbers{1});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.shape("y"), Numbers{4});
  p.feed("x", {8}, Floats(8, 1.0F));
  const std::string error = p.run();
  EXPECT_NE(error.find("to four"), std::string::npos) << error;
  p.feed("k", {1}, Numbers{0});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.shape("y"), Numbers{8});
}

/// The branch of true counts up to f, a float, which is a shape input by that.
TEST(ChosenShapes, ARangeOfFloatsInABranch) {
  const Proto then = branch({node("Range", {"zero", "f", "one"}, {"chosen"}, "count")}, {"chosen"});
  const Proto otherwise = branch({node("Neg", {"x"}, {"chosen"})}, {"chosen"});
  Program p(model(graph({{if_node({"y"}, then, otherwise)},
                         {value("x", kFloat, {-1}), value("f", kFloat), value("c", kBool)},
                         {value("y", kFloat, {-1})},
                         {floats("zero", {}, {0}), floats("one", {}, {1})}})),
            {{"x", {2}, {8}}, {"f", {0}, {8}}});
  p.feed("x", {2}, Floats{5, 6});
  for (const int64_t count : {3, 0, 7}) {
    p.feed("f", {}, Floats{static_cast<float>(count)}).feed_flag("c", true);
    EXPECT_EQ(p.run(), "");
    Floats expected;
    for (int64_t i = 0; i < count; ++i) expected.push_back(static_cast<float>(i));
    EXPECT_EQ(p.of<float>("y"), expected);
    p.feed_flag("c", false);
    EXPECT_EQ(p.run(), "");
    EXPECT_EQ(p.of<float>("y"), (Floats{-5, -6}));
  }
}

/// Each iteration adds the numbers below v, a float of data.
TEST(ChosenShapes, ARangeOfCarriedFloats) {
  const Proto body = loop_body({kOn, node("Range", {"zero", "v", "one"}, {"numbers"}, "count"),
                                node("ReduceSum", {"numbers"}, {"v1"}, "", {int_attribute("keepdims", 0)})},
                               {"v"}, {"on", "v1"});
  Program p(model(graph({{loop_node({"m", "", "f"}, {"y"}, body)},
                         {value("f", kFloat), value("m", kInt64)},
                         {value("y", kFloat)},
                         {floats("zero", {}, {0}), floats("one", {}, {1})}})));
  for (const auto& [count, sum] : {std::pair<int64_t, float>{0, 4}, {1, 6}, {2, 15}, {3, 105}}) {
    p.feed("f", {}, Floats{4}).feed("m", {}, Numbers{count});
    EXPECT_EQ(p.run(), "");
    EXPECT_EQ(p.of<float>("y"), Floats{sum}) << count;
  }
}

}  // namespace
}  // namespace kiln::api
