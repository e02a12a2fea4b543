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

TEST_F(OfAnotherCall, IsNoExtent) {
  const auto shape = mine.shape_of({2, {&own, &old}}, 1);
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error().message, "dimension 1 of output 1 is an expression of another call");
  EXPECT_TRUE(mine.shape_of({2, {&own, &own}}, 1));
}

}  // namespace
}  // namespace kiln::plugin
