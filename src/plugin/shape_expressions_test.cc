#include "plugin/shape_expressions.h"

#include <gtest/gtest.h>

#include <array>

namespace kiln::plugin {
namespace {

using nvinfer1::DimensionOperation;

/// An expression that a plugin has kept from another call.
class OfAnotherCall : public ::testing::Test {
 protected:
  std::string failure() const { return mine.failure() ? "" : mine.failure().error().message; }
  sym::Table table;
  InferContext cx{table, {}, 2};
  ShapeExpressions other{cx, 2}, mine{cx, 2};
  const nvinfer1::IDimensionExpr &old = *other.constant(3), &own = *mine.constant(4);
};

TEST_F(OfAnotherCall, IsNoOperand) {
  EXPECT_EQ(mine.operation(DimensionOperation::kSUM, own, old), nullptr);
  EXPECT_EQ(failure(), "operation: the second operand is an expression of another call");
  EXPECT_EQ(mine.operation(DimensionOperation::kSUM, old, own), nullptr);
  EXPECT_NE(mine.operation(DimensionOperation::kSUM, own, own), nullptr);
}

TEST_F(OfAnotherCall, IsNoSize) {
  EXPECT_EQ(mine.declareSizeTensor(0, own, old), nullptr);
  EXPECT_EQ(failure(), "declareSizeTensor: the upper bound is an expression of another call");
  EXPECT_EQ(mine.declareSizeTensor(0, old, own), nullptr);
  EXPECT_TRUE(mine.size_outputs().empty());
}

TEST(SizeTensors, HaveAnOptimumThatSomeShapesHave) {
  sym::Table table;
  InferContext cx{table, {}, 5};
  ShapeExpressions expressions{cx, 5};
  const std::array<sym::Expr, 2> symbols{table.fresh("n", {2, 8, 16}), sym::Expr(4)};
  const nvinfer1::DimsExprs dims = expressions.of(symbols);
  const nvinfer1::IDimensionExpr &n = *dims.d[0], &four = *dims.d[1];
  const nvinfer1::IDimensionExpr& beyond = *expressions.operation(DimensionOperation::kSUM, n, four);
  EXPECT_TRUE(expressions.declareSizeTensor(0, four, four));
  EXPECT_TRUE(expressions.declareSizeTensor(1, four, n)) << "n may be 4 at least";
  EXPECT_TRUE(expressions.declareSizeTensor(2, n, four)) << "n may be 4 at most";
  EXPECT_TRUE(expressions.failure());
  EXPECT_EQ(expressions.declareSizeTensor(3, beyond, four), nullptr);
  ASSERT_FALSE(expressions.failure());
  EXPECT_EQ(expressions.failure().error().message,
            "declareSizeTensor: output 3: the optimum n + 4 is above the upper bound 4");
  EXPECT_EQ(expressions.declareSizeTensor(4, beyond, n), nullptr);
  EXPECT_EQ(expressions.size_outputs(), (std::vector<int>{0, 1, 2}));
}

/// A plugin may decide by isConstant what it does in a build, and reads the number then.
TEST(Expressions, TellWhetherTheyAreConstants) {
  sym::Table table;
  InferContext cx{table, {}, 2};
  ShapeExpressions expressions{cx, 2};
  const std::array<sym::Expr, 2> extents{table.fresh("n", {2, 8, 16}), sym::Expr(4)};
  const nvinfer1::DimsExprs dims = expressions.of(extents);
  const nvinfer1::IDimensionExpr &n = *dims.d[0], &four = *dims.d[1];
  const nvinfer1::IDimensionExpr &three = *expressions.constant(3), &zero = *expressions.constant(0);
  const auto made = [&](DimensionOperation operation, const auto& a, const auto& b) -> const nvinfer1::IDimensionExpr& {
    return *expressions.operation(operation, a, b);
  };
  const auto expect_constant = [](const nvinfer1::IDimensionExpr& expression, int64_t value) {
    EXPECT_TRUE(expression.isConstant()) << value;
    EXPECT_EQ(expression.getConstantValue(), value);
  };
  const auto expect_none = [](const nvinfer1::IDimensionExpr& expression, const char* what) {
    EXPECT_FALSE(expression.isConstant()) << what;
    EXPECT_EQ(expression.getConstantValue(), INT64_MIN) << what;
  };
  expect_constant(three, 3);
  expect_constant(*expressions.constant(-5), -5);
  expect_constant(four, 4);  // an input's extent that the network tells
  expect_constant(made(DimensionOperation::kPROD, three, four), 12);
  expect_constant(made(DimensionOperation::kCEIL_DIV, four, three), 2);
  expect_constant(made(DimensionOperation::kSUB, made(DimensionOperation::kSUM, n, three), n), 3);
  expect_none(n, "an extent of the run");
  expect_none(made(DimensionOperation::kSUM, n, three), "an extent of the run and 3");
  expect_none(*expressions.declareSizeTensor(1, three, four), "a size that a run decides");
  expect_none(made(DimensionOperation::kFLOOR_DIV, four, zero), "a division by 0");
}

TEST_F(OfAnotherCall, IsNoExtent) {
  const auto shape = mine.shape_of({2, {&own, &old}}, 1);
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error().message, "dimension 1 of output 1 is an expression of another call");
  EXPECT_TRUE(mine.shape_of({2, {&own, &own}}, 1));
}

}  // namespace
}  // namespace kiln::plugin
