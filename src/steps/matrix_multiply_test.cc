#include "steps/matrix_multiply.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using ops::MatrixMultiply;
using ops::MatrixOp;

std::string shape_error(const steps::MatrixMultiply& step, const std::vector<Extents>& inputs, const Extents& y) {
  StepTypes types;
  for (size_t i = 0; i < 4; ++i) types.inputs.push_back({.dtype = DType::kF32, .present = i < inputs.size()});
  types.outputs.resize(1);
  std::vector<Extents> all = inputs;
  all.resize(4);
  const std::vector<Extents> outputs{y};
  const Status checked = AnyStep(step).check(types, {.inputs = all, .outputs = outputs, .params = {}});
  return checked ? "" : checked.error().message;
}

TEST(MatrixMultiplyStep, TakesOperandsThatFit) {
  EXPECT_EQ(shape_error({}, {{2, 3, 4}, {1, 4, 5}}, {2, 3, 5}), "");
  EXPECT_EQ(shape_error({{MatrixOp::kTranspose, MatrixOp::kTranspose}, {}}, {{4, 3}, {5, 4}}, {3, 5}), "");
  EXPECT_EQ(shape_error({{MatrixOp::kVector, MatrixOp::kNone}, {}}, {{2, 4}, {2, 4, 5}}, {2, 5}), "");
  EXPECT_NE(shape_error({}, {{3, 4}, {5, 4}}, {3, 5}), "");
  EXPECT_NE(shape_error({}, {{2, 3, 4}, {3, 4, 5}}, {3, 3, 5}), "");
  EXPECT_NE(shape_error({}, {{3, 4}, {4}}, {3}), "");
  EXPECT_NE(shape_error({}, {{3, 4}, {4, 5}}, {5, 3}), "");
}
TEST(MatrixMultiplyStep, HasABiasOfItsColumns) {
  const steps::MatrixMultiply step{{MatrixOp::kNone, MatrixOp::kTranspose}, {.bias = DType::kF32}};
  EXPECT_EQ(shape_error(step, {{3, 4}, {5, 4}, {5}}, {3, 5}), "");
  EXPECT_NE(shape_error(step, {{3, 4}, {5, 4}, {4}}, {3, 5}), "");
}
TEST(MatrixMultiplyStep, IsOfOneFloatType) {
  StepTypes types;
  types.inputs.resize(4, {.present = false});
  types.inputs[0] = types.inputs[1] = {.dtype = DType::kF16, .rank = 2};
  types.outputs = {{.dtype = DType::kF32, .rank = 2}};
  const AnyStep step = steps::MatrixMultiply{};
  EXPECT_TRUE(step.check(types));
  types.inputs[1].format = Format::permuted(std::vector<int>{1, 0});
  EXPECT_FALSE(step.check(types));
  types.inputs[1] = {.dtype = DType::kF32, .rank = 2};
  EXPECT_EQ(step.check(types).error().message, "a product of f16 and f32 cannot make f32");
}

TEST(ProductShape, NeighbouringBatchesThatMoveAlikeAreOne) {
  const ProductShape p = ProductShape::of({}, {2, 3, 4, 5}, {2, 3, 5, 6});
  ASSERT_EQ(p.axes.size(), 1u);
  EXPECT_EQ(p.axes[0].extent, 6);
  EXPECT_EQ(p.axes[0].b, 30);
  const ProductShape crossed = ProductShape::of({}, {2, 1, 4, 5}, {1, 3, 5, 6});
  ASSERT_EQ(crossed.axes.size(), 2u);
  EXPECT_EQ(crossed.axes[0].a, 0);  // the innermost first
  EXPECT_EQ(crossed.axes[1].b, 0);
}
TEST(ProductShape, RowsJoinWhereBIsShared) {
  ProductShape p = ProductShape::of({}, {2, 3, 4, 5}, {1, 1, 5, 6});
  p.join_rows();
  EXPECT_EQ(p.m, 24);
  EXPECT_TRUE(p.axes.empty());
  ProductShape transposed = ProductShape::of({MatrixOp::kTranspose, MatrixOp::kNone}, {2, 5, 4}, {1, 5, 6});
  transposed.join_rows();
  EXPECT_EQ(transposed.m, 4);
  EXPECT_EQ(transposed.axes.size(), 1u);
  ProductShape rows = ProductShape::of({MatrixOp::kTranspose, MatrixOp::kNone}, {2, 5, 1}, {1, 5, 6});
  rows.join_rows();
  EXPECT_EQ(rows.m, 2);
  EXPECT_EQ(rows.a_row, 5);
}

}  // namespace
}  // namespace kiln
