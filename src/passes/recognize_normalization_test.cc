#include "passes/recognize_normalization.h"

#include <gtest/gtest.h>

#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

constexpr const char* kCentred =
    "m = Reduce{kind=avg, axes=[-1], keep=true}(x); d = ElementWise{kind=sub}(x, m); "
    "two = Constant{value=f32[1, 1](2)}(); eps = Constant{value=f32[1, 1](0.25)}(); ";
constexpr const char* kVariance =
    "v = Reduce{kind=avg, axes=[1], keep=true}(q); e = ElementWise{kind=sum}(v, eps); "
    "r = Unary{kind=sqrt}(e); ";
TEST(RecognizeNormalization, WithScaleAndBias) {
  EXPECT_EQ(after_pass(recognize_normalization,
                       str("x: f32[2, 3]; ", kCentred, "q = ElementWise{kind=pow}(d, two); ", kVariance,
                           "n = ElementWise{kind=div}(d, r); g = Constant{value=f32[1, 3](1, 2, 3)}(); "
                           "b = Constant{value=f32[1, 3](4, 5, 6)}(); s = ElementWise{kind=prod}(n, g); "
                           "y = ElementWise{kind=sum}(b, s); return y")),
            "x: f32[2, 3]\n%15 = Constant{value=f32[3](1, 2, 3)}()\n%17 = Constant{value=f32[3](4, 5, 6)}()\n"
            "y = Normalization{axes=[1], epsilon=0.25, groups=1, compute=f32, centered=true}(x, %15, %17)\nreturn y\n");
}
TEST(RecognizeNormalization, ReciprocalOfTheRoot) {
  EXPECT_EQ(after_pass(recognize_normalization,
                       str("x: f32[2, 3]; ", kCentred, "q = ElementWise{kind=prod}(d, d); ", kVariance,
                           "i = Unary{kind=recip}(r); y = ElementWise{kind=prod}(i, d); return y")),
            "x: f32[2, 3]\ntwo = Constant{value=f32[1, 1](2)}()\n"
            "y = Normalization{axes=[1], epsilon=0.25, groups=1, compute=f32, centered=true}(x)\nreturn y\n");
}
constexpr const char* kSquares =
    "two = Constant{value=f32[1, 1](2)}(); one = Constant{value=f32[1, 1](1)}(); "
    "eps = Constant{value=f32[1, 1](0.25)}(); back = Constant{value=f32[1, 1](-0.5)}(); ";
constexpr const char* kRootOfMean =
    "v = Reduce{kind=avg, axes=[1], keep=true}(q); e = ElementWise{kind=sum}(v, eps); r = Unary{kind=sqrt}(e); ";
TEST(RecognizeNormalization, RootOfMeanSquares) {
  for (const std::string square : {"q = ElementWise{kind=pow}(x, two); ", "q = ElementWise{kind=prod}(x, x); "})
    for (const std::string end :
         {"y = ElementWise{kind=div}(x, r); ", "i = Unary{kind=recip}(r); y = ElementWise{kind=prod}(i, x); ",
          "i = ElementWise{kind=div}(one, r); y = ElementWise{kind=prod}(x, i); ",
          "i = ElementWise{kind=pow}(e, back); y = ElementWise{kind=prod}(x, i); "}) {
      const std::string text =
          after_pass(recognize_normalization, str("x: f32[2, 3]; ", kSquares, square, kRootOfMean, end, "return y"));
      EXPECT_NE(text.find("y = Normalization{axes=[1], epsilon=0.25, groups=1, compute=f32, centered=false}(x)"),
                std::string::npos)
          << text;
    }
}
TEST(RecognizeNormalization, RootOfMeanSquaresTakesAScale) {
  EXPECT_EQ(after_pass(recognize_normalization,
                       str("x: f32[2, 3]; eps = Constant{value=f32[1, 1](0.25)}(); q = ElementWise{kind=prod}(x, x); ",
                           kRootOfMean,
                           "i = Unary{kind=recip}(r); n = ElementWise{kind=prod}(x, i); "
                           "g = Constant{value=f32[1, 3](1, 2, 3)}(); y = ElementWise{kind=prod}(g, n); return y")),
            "x: f32[2, 3]\n%11 = Constant{value=f32[3](1, 2, 3)}()\n"
            "y = Normalization{axes=[1], epsilon=0.25, groups=1, compute=f32, centered=false}(x, %11)\nreturn y\n");
}
TEST(RecognizeNormalization, TakesTheCastsAroundIt) {  // as exporters spell it of halves
  const std::string text =
      str("x: f16[2, 3]; eps = Constant{value=f32[1, 1](0.25)}(); w = Cast{to=f32}(x); "
          "q = ElementWise{kind=prod}(w, w); ",
          kRootOfMean,
          "i = Unary{kind=recip}(r); n = ElementWise{kind=prod}(w, i); h = Cast{to=f16}(n); "
          "g = Constant{value=f16[1, 3](1, 2, 3)}(); y = ElementWise{kind=prod}(g, h); return y");
  // A product behind the cast rounds once more: where rounding is meant, it stays.
  const std::string strongly_typed = after_pass(recognize_normalization, text, true);
  EXPECT_NE(strongly_typed.find("compute=f32, centered=false}(x)"), std::string::npos) << strongly_typed;
  EXPECT_NE(strongly_typed.find("ElementWise{kind=prod}(g, h)"), std::string::npos) << strongly_typed;
  EXPECT_EQ(strongly_typed.find("Cast"), std::string::npos) << strongly_typed;
  const std::string weakly_typed = after_pass(recognize_normalization, text, false);
  EXPECT_EQ(weakly_typed.find("ElementWise"), std::string::npos) << weakly_typed;
}
TEST(RecognizeNormalization, NotOfAnotherSquare) {
  const std::string text =
      after_pass(recognize_normalization, str("x: f32[2, 3]; z: f32[2, 3]; eps = Constant{value=f32[1, 1](0.25)}(); "
                                              "q = ElementWise{kind=prod}(x, z); ",
                                              kRootOfMean, "y = ElementWise{kind=div}(x, r); return y"));
  EXPECT_EQ(text.find("Normalization"), std::string::npos) << text;
}
TEST(RecognizeNormalization, NotOfAnotherMean) {  // the variance is that of z
  const std::string text = after_pass(
      recognize_normalization, str("x: f32[2, 3]; z: f32[2, 3]; ", kCentred, "q = ElementWise{kind=prod}(z, z); ",
                                   kVariance, "y = ElementWise{kind=div}(d, r); return y"));
  EXPECT_EQ(text.find("Normalization"), std::string::npos) << text;
}
TEST(RecognizeNormalization, NotWhereRoundingIsMeant) {
  std::string half = str("x: f16[2, 3]; ", kCentred, "q = ElementWise{kind=prod}(d, d); ", kVariance,
                         "y = ElementWise{kind=div}(d, r); return y");
  for (size_t at = 0; (at = half.find("f32[", at)) != std::string::npos;) half.replace(at, 3, "f16");
  EXPECT_EQ(after_pass(recognize_normalization, half, true).find("Normalization"), std::string::npos);
  EXPECT_NE(after_pass(recognize_normalization, half, false).find("Normalization"), std::string::npos);
}

}  // namespace
}  // namespace kiln::passes
