#include "passes/move_quantize.h"

#include <gtest/gtest.h>

#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

constexpr std::string_view kTo = "{to=i8, axis=-1, block=[]}", kFrom = "{to=f32, axis=-1, block=[]}";

TEST(MoveQuantize, AboveAConcatenation) {
  EXPECT_EQ(after_pass(move_quantize,
                       "a: f32[2, 3]; b: f32[2, 5]; s: f32[1, 1]; c = Concatenation{axis=1}(a, b); y = Quantize(c, s); "
                       "return y"),
            str("a: f32[2, 3]\nb: f32[2, 5]\ns: f32[1, 1]\n%5 = Quantize", kTo, "(a, s)\n%6 = Quantize", kTo,
                "(b, s)\ny = Concatenation{axis=1}(%5, %6)\nreturn y\n"));
}
TEST(MoveQuantize, AboveATranspose) {
  EXPECT_EQ(
      after_pass(move_quantize,
                 "x: f32[2, 3]; s: f32[1, 1]; t = Transpose{perm=[1, 0]}(x); y = Quantize(t, s); "
                 "return y"),
      str("x: f32[2, 3]\ns: f32[1, 1]\n%4 = Quantize", kTo, "(x, s)\ny = Transpose{perm=[1, 0]}(%4)\nreturn y\n"));
}
TEST(MoveQuantize, DequantizeBelowATranspose) {
  EXPECT_EQ(
      after_pass(move_quantize,
                 "x: i8[2, 3]; s: f32[1, 1]; d = Dequantize(x, s); y = Transpose{perm=[1, 0]}(d); "
                 "return y"),
      str("x: i8[2, 3]\ns: f32[1, 1]\n%4 = Transpose{perm=[1, 0]}(x)\ny = Dequantize", kFrom, "(%4, s)\nreturn y\n"));
}
TEST(MoveQuantize, BackToTheSameBytes) {
  EXPECT_EQ(after_pass(move_quantize,
                       "x: i8[2]; z: i8[1]; s: f32[1]; d = Dequantize(x, s, z); r = Quantize(d, s, z); y = "
                       "Transpose{perm=[0]}(r); return y"),
            "x: i8[2]\nz: i8[1]\ns: f32[1]\ny = Transpose{perm=[0]}(x)\nreturn y\n");
}
TEST(MoveQuantize, NotByOtherScalesOrOfMany) {
  const std::string other =
      str("x: i8[2]\ns: f32[1]\nt: f32[1]\nd = Dequantize", kFrom, "(x, s)\ny = Quantize", kTo, "(d, t)\nreturn y\n");
  EXPECT_EQ(after_pass(move_quantize, other), other);
  const std::string many =
      str("x: f32[2, 3]\ns: f32[3, 1]\nt = Transpose{perm=[1, 0]}(x)\ny = Quantize", kTo, "(t, s)\nreturn y\n");
  EXPECT_EQ(after_pass(move_quantize, many), many);
}

TEST(MoveQuantize, StaysBehindTheTransposeOfAttention) {
  const std::string text =
      str("p: f32[2, 3, 4]\nv: f32[2, 4, 5]\ns: f32[1, 1, 1]\nm = MatrixMultiply{a=none, b=none}(p, v)\n"
          "t = Transpose{perm=[1, 0, 2]}(m)\ny = Quantize",
          kTo, "(t, s)\nreturn y\n");
  EXPECT_EQ(after_pass(move_quantize, text), text);
}
TEST(MoveQuantize, StaysBehindTheTransposeOfAttentionToBytes) {
  const std::string text =
      str("p: f32[2, 3, 4]\nv: i8[2, 4, 5]\ns: f32[1, 1, 1]\nd = Dequantize", kFrom,
          "(v, s)\nm = MatrixMultiply{a=none, b=none}(p, d)\nt = Transpose{perm=[1, 0, 2]}(m)\ny = Quantize", kTo,
          "(t, s)\nreturn y\n");
  EXPECT_EQ(after_pass(move_quantize, text), text);
}
TEST(MoveQuantize, MovesAboveTheTransposeOfAProductByWeights) {
  const std::string weights = "w = Constant{value=i8[1, 4, 1](1, 2, 3, 4)}()\ns = Constant{value=f32[1, 1, 1](1)}()\n";
  EXPECT_EQ(after_pass(move_quantize, str("x: f32[2, 3, 4]\n", weights, "d = Dequantize", kFrom,
                                          "(w, s)\nm = MatrixMultiply{a=none, b=none}(x, d)\nt = "
                                          "Transpose{perm=[1, 0, 2]}(m)\ny = Quantize",
                                          kTo, "(t, s)\nreturn y\n")),
            str("x: f32[2, 3, 4]\n", weights, "d = Dequantize", kFrom,
                "(w, s)\nm = MatrixMultiply{a=none, b=none}(x, d)\n%7 = Quantize", kTo,
                "(m, s)\ny = Transpose{perm=[1, 0, 2]}(%7)\nreturn y\n"));
}
TEST(LowerWeights, TurnsBytesAndTheirScales) {
  const std::string w = "q = Constant{value=i8[2, 3](1, 2, 3, 4, 5, 6)}(); s = Constant{value=f32[2, 1](1, 2)}(); ";
  EXPECT_EQ(after_pass(lower_weights, w + "d = Dequantize(q, s); y = Transpose{perm=[1, 0]}(d); return y"),
            str("q = Constant{value=i8[2, 3](1, 2, 3, 4, 5, 6)}()\ns = Constant{value=f32[2, 1](1, 2)}()\n"
                "%4 = Transpose{perm=[1, 0]}(q)\n%5 = Transpose{perm=[1, 0]}(s)\ny = Dequantize",
                kFrom, "(%4, %5)\nreturn y\n"));
  EXPECT_EQ(after_pass(lower_weights, w + "d = Dequantize(q, s); y = Unsqueeze{axes=[0]}(d); return y"),
            str("q = Constant{value=i8[2, 3](1, 2, 3, 4, 5, 6)}()\ns = Constant{value=f32[2, 1](1, 2)}()\n"
                "%4 = Unsqueeze{axes=[0]}(q)\n%5 = Reshape{dims=[1, 2, 1], zero_is_placeholder=false}(s)\n"
                "y = Dequantize",
                kFrom, "(%4, %5)\nreturn y\n"));
}
TEST(LowerWeights, NotWhatReshapesMixOrTheRunQuantizes) {
  const std::string mixed =
      str("q = Constant{value=i8[2, 3](1, 2, 3, 4, 5, 6)}()\ns = Constant{value=f32[2, 1](1, 2)}()\nd = Dequantize",
          kFrom, "(q, s)\ny = Reshape{dims=[6], zero_is_placeholder=true}(d)\nreturn y\n");
  EXPECT_EQ(after_pass(lower_weights, mixed), mixed);
  const std::string of_run =
      str("q: i8[2, 3]\ns: f32[2, 1]\nd = Dequantize", kFrom, "(q, s)\ny = Transpose{perm=[1, 0]}(d)\nreturn y\n");
  EXPECT_EQ(after_pass(lower_weights, of_run), of_run);
}

}  // namespace
}  // namespace kiln::passes
