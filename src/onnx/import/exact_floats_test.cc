// Lengths that a network computes in floats.
#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

constexpr int64_t kHalf = 10;

Proto cast_node(std::string_view x, std::string_view y, int64_t to) {
  return node("Cast", {x}, {y}, "", {int_attribute("to", to)});
}

/// y = Expand(1, lengths), where nodes make `lengths`, i64[1], of n, the length of x, in floats.
Imported expanded(const std::vector<Proto>& steps, int64_t type) {
  std::vector<Proto> nodes{node("Shape", {"x"}, {"s"}), cast_node("s", "n", type)};
  nodes.insert(nodes.end(), steps.begin(), steps.end());
  nodes.push_back(cast_node("f", "lengths", kInt64));
  nodes.push_back(node("Expand", {"one", "lengths"}, {"y"}));
  return import_proto(model(
      graph({nodes,
             {value("x", kFloat, {-1})},
             {value("y")},
             {floats("one", {1}, {1}), floats("two", {1}, {2}), floats("three", {}, {3}), floats("half", {1}, {0.5F}),
              floats("tenth", {1}, {0.1F}), floats("ten", {1}, {10}), floats("zero", {1}, {0})}})));
}
/// The extent of y at lengths 0 to 7 of x, or the problems.
std::string extents_of(const std::vector<Proto>& steps, int64_t type = kFloat) {
  const Imported got = expanded(steps, type);
  if (!got.status) return text_of(got);
  const sym::Expr y = got.graph.type(got.graph.outputs()[0].value).shape[0];
  std::string text;
  for (int64_t n = 0; n < 8; ++n) text += str(sym::evaluate(y, std::span(&n, 1)).value_or(-1), ' ');
  return text;
}

TEST(ExactFloats, RoundedQuotientsAreExtents) {
  EXPECT_EQ(extents_of({node("Div", {"n", "two"}, {"q"}), node("Ceil", {"q"}, {"f"})}), "0 1 1 2 2 3 3 4 ");
  EXPECT_EQ(extents_of({node("Div", {"n", "two"}, {"q"}), node("Floor", {"q"}, {"f"})}), "0 0 1 1 2 2 3 3 ");
  EXPECT_EQ(extents_of({node("Mul", {"n", "half"}, {"f"})}), "0 0 1 1 2 2 3 3 ");  // the cast truncates
}
TEST(ExactFloats, ArithmeticDissolves) {
  EXPECT_EQ(extents_of({node("Add", {"n", "half"}, {"a"}), node("Sub", {"a", "half"}, {"b"}),
                        node("Mul", {"b", "two"}, {"c"}), node("Div", {"c", "two"}, {"f"})}),
            "0 1 2 3 4 5 6 7 ");
  EXPECT_EQ(extents_of({node("Max", {"n", "two"}, {"a"}), node("Min", {"a", "two"}, {"f"})}), "2 2 2 2 2 2 2 2 ");
  EXPECT_EQ(extents_of({node("Neg", {"n"}, {"a"}), node("Neg", {"a"}, {"f"})}), "0 1 2 3 4 5 6 7 ");
}
TEST(ExactFloats, DoublesCount) {
  EXPECT_EQ(extents_of({cast_node("n", "a", kFloat), cast_node("a", "f", kDouble)}, kDouble), "0 1 2 3 4 5 6 7 ");
}
TEST(ExactFloats, ScalarsMeetVectors) {
  EXPECT_EQ(extents_of({node("Div", {"n", "three"}, {"q"}), node("Ceil", {"q"}, {"f"})}), "0 1 1 1 2 2 2 3 ");
}

/// y = twice of x, elements of an input, in floats; z = Expand(1, y) where `as_shape`.
Imported doubled_elements(bool as_shape) {
  std::vector<Proto> nodes{cast_node("x", "a", kFloat), node("Mul", {"a", "two"}, {"b"}), cast_node("b", "y", kInt64)};
  if (as_shape) nodes.push_back(node("Expand", {"one", "y"}, {"z"}));
  return import_proto(model(graph({nodes,
                                   {value("x", kInt64, {1})},
                                   {value(as_shape ? "z" : "y")},
                                   {floats("one", {1}, {1}), floats("two", {1}, {2})}})));
}
/// Beyond 2^24 the floats of data round, and an input of data lies on the device.
TEST(ExactFloats, ElementsOfInputsAreDataUnlessAShapeNeedsThem) {
  const Imported data = doubled_elements(false);
  ASSERT_TRUE(data.status) << text_of(data);
  EXPECT_EQ(text_of(data).find("DimValues"), std::string::npos) << text_of(data);
  const Imported shape = doubled_elements(true);
  ASSERT_TRUE(shape.status) << text_of(shape);
  const sym::Expr z = shape.graph.type(shape.graph.outputs()[0].value).shape[0];
  const sym::Expr x = (*shape.graph.type(shape.graph.inputs()[0]).values)[0];
  EXPECT_EQ(z, x * 2);
}
/// The names of the first of two tries leave no trace: runs could not say what such a name stands for.
TEST(ExactFloats, ASecondTryBeginsAnew) {
  const Imported got = import_proto(
      model(graph({{node("Conv", {"image", "w"}, {"c"}), cast_node("x", "a", kFloat), node("Mul", {"a", "two"}, {"b"}),
                    cast_node("b", "y", kInt64), node("Expand", {"one", "y"}, {"z"})},
                   {value("image", kFloat, {1, 1, -1, -1}), value("x", kInt64, {1})},
                   {value("c"), value("z")},
                   {floats("w", {1, 1, 2, 1}, {1, 2}), floats("one", {1}, {1}), floats("two", {1}, {2})}})));
  ASSERT_TRUE(got.status) << text_of(got);
  std::vector<std::string> names;
  for (const sym::Expr& symbol : got.graph.shared_table()->symbols()) names.emplace_back(symbol.name());
  EXPECT_EQ(names, (std::vector<std::string>{"image_2", "image_3", "x[0]"}));
}

/// What is no ratio of integers is rounded as floats are (sym/real.h).
TEST(ExactFloats, OtherArithmeticRounds) {
  EXPECT_EQ(extents_of({node("Mul", {"n", "tenth"}, {"t"}), node("Mul", {"t", "ten"}, {"f"})}), "0 1 2 3 4 5 6 7 ");
  EXPECT_EQ(extents_of({node("Sqrt", {"n"}, {"f"})}), "0 1 1 1 2 2 2 2 ");
  EXPECT_EQ(extents_of({node("Div", {"two", "n"}, {"f"})}), "-1 2 1 0 0 0 0 0 ");
  EXPECT_EQ(extents_of({cast_node("n", "f", kFloat)}, kHalf), "0 1 2 3 4 5 6 7 ");
}
constexpr std::string_view kUnknown = "-1 -1 -1 -1 -1 -1 -1 -1 ";

/// Values that would have to be guessed stay unknown: the host reads what a run makes of them.
TEST(ExactFloats, WhatIsNotKnownIsRead) {
  for (const std::vector<Proto>& steps :
       {std::vector{node("Div", {"n", "zero"}, {"f"})}, {node("ReduceSum", {"x"}, {"f"})}, {node("Sin", {"n"}, {"f"})}})
    EXPECT_EQ(extents_of(steps), kUnknown);
}

/// A long chain of doublings ends where denominators or nodes become too many, in no time.
TEST(ExactFloats, LongChainsEnd) {
  std::vector<Proto> steps{node("Identity", {"n"}, {"v0"})};
  for (int i = 0; i < 100; ++i)
    steps.push_back(node("Add", {str("v", i), str("v", i)}, {i == 99 ? "f" : str("v", i + 1)}));
  EXPECT_EQ(extents_of(steps), kUnknown);
}

}  // namespace
}  // namespace kiln::onnx
