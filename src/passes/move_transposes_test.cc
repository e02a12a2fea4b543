#include "passes/move_transposes.h"

#include <gtest/gtest.h>

#include "ops/activation.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/transpose.h"
#include "ops/unary.h"
#include "passes/simplify_movement.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(MoveTransposes, BelowAProductToTheTransposeThatUndoesThem) {
  EXPECT_EQ(after_pass(simplify_movement,
                       "x: f32[b, s, 2]; t = Transpose{perm=[1, 0, 2]}(x); "
                       "w = Constant{value=f32[1, 2, 2](1, 2, 3, 4)}(); c = Constant{value=f32[1, 1, 2](5, 6)}(); "
                       "m = MatrixMultiply(t, w); p = ElementWise{kind=sum}(m, c); "
                       "y = Transpose{perm=[1, 0, 2]}(p); return y"),
            "x: f32[b, s, 2]\n"
            "w = Constant{value=f32[1, 2, 2](1, 2, 3, 4)}()\n"
            "c = Constant{value=f32[1, 1, 2](5, 6)}()\n"
            "%7 = MatrixMultiply{a=none, b=none}(x, w)\n"
            "y = ElementWise{kind=sum}(%7, c)\n"
            "return y\n");
}
TEST(MoveTransposes, ProjectionsOfAttentionInRowsFirst) {
  EXPECT_EQ(after_pass(simplify_movement,
                       "x: f32[b, 5, 2]; t = Transpose{perm=[1, 0, 2]}(x); "
                       "w = Constant{value=f32[1, 2, 4](1, 2, 3, 4, 5, 6, 7, 8)}(); m = MatrixMultiply(t, w); "
                       "r = Reshape{dims=[5, -1, 2, 2]}(m); "
                       "a = Slice{starts=[0], sizes=[1], axes=[2]}(r); c = Slice{starts=[1], sizes=[1], axes=[2]}(r); "
                       "d = Transpose{perm=[1, 2, 0, 3]}(a); e = Transpose{perm=[1, 2, 0, 3]}(c); return d, e"),
            "x: f32[b, 5, 2]\n"
            "w = Constant{value=f32[1, 2, 4](1, 2, 3, 4, 5, 6, 7, 8)}()\n"
            "%13 = MatrixMultiply{a=none, b=none}(x, w)\n"
            "%15 = Slice{starts=[0], sizes=[2], strides=[1], axes=[2], mode=strict_bounds}(%13)\n"
            "%17 = Slice{starts=[2], sizes=[2], strides=[1], axes=[2], mode=strict_bounds}(%13)\n"
            "d = Reshape{dims=[-1, 1, 5, 2], zero_is_placeholder=false}(%15)\n"
            "e = Reshape{dims=[-1, 1, 5, 2], zero_is_placeholder=false}(%17)\n"
            "return d, e\n");
}
TEST(MoveTransposes, AboveAProductToTheTransposeThatMadeItsRows) {
  EXPECT_EQ(after_pass(simplify_movement,
                       "x: f32[b, 2, 5, 3]; z: f32[b, 5, 2]; t = Transpose{perm=[2, 0, 1, 3]}(x); "
                       "r = Reshape{dims=[5, -1, 6]}(t); "
                       "w = Constant{value=f32[1, 6, 2](1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)}(); "
                       "m = MatrixMultiply(r, w); u = Transpose{perm=[1, 0, 2]}(m); "
                       "y = ElementWise{kind=sum}(u, z); return y"),
            "x: f32[b, 2, 5, 3]\n"
            "z: f32[b, 5, 2]\n"
            "w = Constant{value=f32[1, 6, 2](...)}()\n"
            "%11 = Transpose{perm=[0, 2, 1, 3]}(x)\n"
            "%12 = Reshape{dims=[-1, 5, 6], zero_is_placeholder=false}(%11)\n"
            "u = MatrixMultiply{a=none, b=none}(%12, w)\n"
            "y = ElementWise{kind=sum}(u, z)\n"
            "return y\n");
}
TEST(MoveTransposes, BelowAndAboveWhatQuantizesByOneScale) {
  EXPECT_EQ(after_pass(simplify_movement,
                       "x: f32[b, s, 2]; t = Transpose{perm=[1, 0, 2]}(x); "
                       "c = Constant{value=f32[1, 1, 1](0.5)}(); w = Constant{value=f32[1, 2, 2](1, 2, 3, 4)}(); "
                       "q = Quantize(t, c); d = Dequantize(q, c); m = MatrixMultiply(d, w); "
                       "y = Transpose{perm=[1, 0, 2]}(m); return y"),
            "x: f32[b, s, 2]\n"
            "c = Constant{value=f32[1, 1, 1](0.5)}()\n"
            "w = Constant{value=f32[1, 2, 2](1, 2, 3, 4)}()\n"
            "%8 = Quantize{to=i8, axis=-1, block=[]}(x, c)\n"
            "%10 = Dequantize{to=f32, axis=-1, block=[]}(%8, c)\n"
            "y = MatrixMultiply{a=none, b=none}(%10, w)\n"
            "return y\n");
  EXPECT_EQ(after_pass(simplify_movement,
                       "x: f32[b, 2, 5, 3]; z: f32[b, 5, 2]; t = Transpose{perm=[2, 0, 1, 3]}(x); "
                       "r = Reshape{dims=[-1, 6]}(t); c = Constant{value=f32[1, 1](0.5)}(); "
                       "q = Quantize(r, c); d = Dequantize(q, c); "
                       "w = Constant{value=f32[6, 2](1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)}(); "
                       "m = MatrixMultiply(d, w); k = Reshape{dims=[5, -1, 2]}(m); u = Transpose{perm=[1, 0, 2]}(k); "
                       "y = ElementWise{kind=sum}(u, z); return y")
                .find("perm=[1, 0, 2]"),
            std::string::npos);
}
TEST(MoveTransposes, NotBelowWhatQuantizesByAScaleARow) {
  const char* const kText =
      "x: f32[2, s, 2]\nt = Transpose{perm=[1, 0, 2]}(x)\n"
      "c = Constant{value=f32[1, 2, 1](0.5, 1)}()\nq = Quantize{to=i8, axis=-1, block=[]}(t, c)\n"
      "y = Transpose{perm=[1, 0, 2]}(q)\nreturn y\n";
  EXPECT_EQ(after_pass(move_transposes, kText), kText);
}
TEST(MoveTransposes, NotWhereNothingIsUndone) {
  const char* const kText =
      "x: f32[b, s, 2]\nt = Transpose{perm=[1, 0, 2]}(x)\n"
      "w = Constant{value=f32[1, 2, 2](1, 2, 3, 4)}()\nm = MatrixMultiply{a=none, b=none}(t, w)\nreturn m\n";
  EXPECT_EQ(after_pass(move_transposes, kText), kText);
}
TEST(MoveTransposes, KeepsValuesAndSettles) {
  check_pass<ops::Transpose, ops::Transpose, ops::MatrixMultiply, ops::ElementWise, ops::Activation, ops::Unary,
             ops::Reshape, ops::Slice>(move_transposes, {.graphs = 1000, .tolerance = 1e-6});
}

}  // namespace
}  // namespace kiln::passes
