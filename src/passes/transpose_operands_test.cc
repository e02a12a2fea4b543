#include "passes/transpose_operands.h"

#include <gtest/gtest.h>

#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/reshape.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(TransposeOperands, TheSwapVanishes) {
  EXPECT_EQ(after_pass(transpose_operands,
                       "a: f32[2, 3, 4]; b: f32[2, 5, 4]; t = Transpose{perm=[0, 2, 1]}(b); "
                       "y = MatrixMultiply(a, t); return y"),
            "a: f32[2, 3, 4]\nb: f32[2, 5, 4]\ny = MatrixMultiply{a=none, b=transpose}(a, b)\nreturn y\n");
}
TEST(TransposeOperands, WhatIsLeftKeepsRowsWhole) {
  EXPECT_EQ(after_pass(transpose_operands,
                       "a: f32[2, 3, 5, 4]; b: f32[2, 6, 3, 4]; t = Transpose{perm=[0, 2, 3, 1]}(b); "
                       "c = Constant{value=f32[1, 1, 1, 1](0.125)}(); s = ElementWise{kind=prod}(c, t); "
                       "y = MatrixMultiply(a, s); return y"),
            "a: f32[2, 3, 5, 4]\nb: f32[2, 6, 3, 4]\nc = Constant{value=f32[1, 1, 1, 1](0.125)}()\n"
            "%6 = ElementWise{kind=prod}(c, b)\n%7 = Transpose{perm=[0, 2, 1, 3]}(%6)\n"
            "y = MatrixMultiply{a=none, b=transpose}(a, %7)\nreturn y\n");
}
TEST(TransposeOperands, BehindAReshapeOfLeadingAxes) {
  EXPECT_EQ(after_pass(transpose_operands,
                       "a: f32[1, 3, 5, 4]; b: f32[6, 3, 4]; t = Transpose{perm=[1, 2, 0]}(b); "
                       "r = Reshape{dims=[1, 3, 4, 6]}(t); c = Constant{value=f32[1, 1, 1, 1](0.125)}(); "
                       "s = ElementWise{kind=prod}(r, c); y = MatrixMultiply(a, s); return y"),
            "a: f32[1, 3, 5, 4]\nb: f32[6, 3, 4]\n%7 = Constant{value=f32[1, 1, 1](0.125)}()\n"
            "%8 = ElementWise{kind=prod}(b, %7)\n%9 = Transpose{perm=[1, 0, 2]}(%8)\n"
            "%10 = Reshape{dims=[1, 3, 6, 4], zero_is_placeholder=false}(%9)\n"
            "y = MatrixMultiply{a=none, b=transpose}(a, %10)\nreturn y\n");
}
TEST(TransposeOperands, KeepsValuesAndSettles) {
  check_pass<ops::MatrixMultiply, ops::MatrixMultiply, ops::Transpose, ops::ElementWise, ops::Unsqueeze, ops::Reshape>(
      transpose_operands, {.graphs = 1500, .tolerance = 1e-6, .least_changed = 30});
}

}  // namespace
}  // namespace kiln::passes
