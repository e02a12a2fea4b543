#include "plugin/shape_expressions.h"

#include <gtest/gtest.h>

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

TEST_F(OfAnotherCall, IsNoExtent) {
  const auto shape = mine.shape_of({2, {&own, &old}}, 1);
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error().message, "dimension 1 of output 1 is an expression of another call");
  EXPECT_TRUE(mine.shape_of({2, {&own, &own}}, 1));
}

}  // namespace
}  // namespace kiln::plugin
